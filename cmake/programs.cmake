# zcodec_program(NAME SOURCE...): a program of this build. Warnings are errors.

set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_NO_SYSTEM_FROM_IMPORTED ON) # warnings in zcodec.h count, too
find_package(Threads REQUIRED)

add_library(zcodec-warnings INTERFACE)
if(MSVC)
  target_compile_options(zcodec-warnings INTERFACE /W4)
  target_compile_definitions(zcodec-warnings INTERFACE _CRT_SECURE_NO_WARNINGS)
else()
  target_compile_options(zcodec-warnings INTERFACE -Wall -Wextra -pedantic)
endif()

function(zcodec_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE zcodec::zcodec zcodec-warnings Threads::Threads)
endfunction()

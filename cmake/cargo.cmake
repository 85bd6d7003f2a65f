# The target zcodec-cargo builds the library and lays it out in build/lib; zcodec::zcodec and zcodec::zcodec-static
# are what programs of this build link to.

# The first one of the PATH, otherwise that of rustup.
set(rustup_places "$ENV{HOME}/.cargo/bin" "$ENV{USERPROFILE}/.cargo/bin")
if(DEFINED ENV{CARGO_HOME})
  list(PREPEND rustup_places "$ENV{CARGO_HOME}/bin")
endif()
find_program(ZCODEC_CARGO cargo PATHS ${rustup_places} REQUIRED)
set(ZCODEC_CARGO_TARGET_DIR "${PROJECT_BINARY_DIR}/cargo" CACHE PATH "Where cargo builds")
set(ZCODEC_CARGO_TARGET "$ENV{CARGO_BUILD_TARGET}" CACHE STRING "Rust target triple to build for; empty: the host")
if(CMAKE_CROSSCOMPILING AND NOT ZCODEC_CARGO_TARGET)
  message(FATAL_ERROR "Set ZCODEC_CARGO_TARGET to the Rust target triple of ${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR}")
endif()
set(ZCODEC_CARGO_ARGS "" CACHE STRING "Further arguments for cargo, as a list")

set(cargo_output "${ZCODEC_CARGO_TARGET_DIR}/${ZCODEC_CARGO_TARGET}/$<IF:$<CONFIG:Debug>,debug,release>")
set(cargo_environment "CARGO_TARGET_DIR=${ZCODEC_CARGO_TARGET_DIR}")
set(cargo_target)
if(ZCODEC_CARGO_TARGET)
  set(cargo_target --target ${ZCODEC_CARGO_TARGET})
  string(REPLACE "-" "_" triple "${ZCODEC_CARGO_TARGET}")
  string(TOUPPER "${triple}" TRIPLE)
  if(NOT MSVC) # there rustc finds both by itself, and its linker is not the compiler
    list(APPEND cargo_environment "CC_${triple}=${CMAKE_C_COMPILER}" "CARGO_TARGET_${TRIPLE}_LINKER=${CMAKE_C_COMPILER}")
  endif()
endif()

# Only these two crate types: if the Rust library is one of them, cargo does no link-time optimisation.
set(lib_dir "${PROJECT_BINARY_DIR}/lib")
set(stage COMMAND ${CMAKE_COMMAND} -E make_directory "${lib_dir}")
# Where there are a shell and the GNU tools.
set(static_format)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(static_format elf)
elseif(MINGW AND CMAKE_HOST_UNIX)
  set(static_format pe-x86-64)
endif()
foreach(pair "${ZCODEC_SHARED_BUILT}:${ZCODEC_SHARED_FILE}" "${ZCODEC_STATIC_BUILT}:${ZCODEC_STATIC_BUILT}"
             "${ZCODEC_IMPORT_BUILT}:${ZCODEC_IMPORT_BUILT}")
  if(NOT pair STREQUAL ":")
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 built)
    list(GET pair 1 staged)
    if(static_format AND built STREQUAL ZCODEC_STATIC_BUILT)
      # Without global names other than its own, so that its compressors stay apart from those of the program.
      list(APPEND stage COMMAND ${CMAKE_COMMAND} -E env FORMAT=${static_format} "LD=${CMAKE_LINKER}" "NM=${CMAKE_NM}"
           "OBJCOPY=${CMAKE_OBJCOPY}" "AR=${CMAKE_AR}" "RANLIB=${CMAKE_RANLIB}"
           "${PROJECT_SOURCE_DIR}/scripts/static-library.sh" "${cargo_output}/${built}" "${lib_dir}/${staged}")
    else()
      list(APPEND stage COMMAND ${CMAKE_COMMAND} -E copy_if_different "${cargo_output}/${built}" "${lib_dir}/${staged}")
    endif()
  endif()
endforeach()
set(link_to ${ZCODEC_SHARED_FILE})
foreach(link IN LISTS ZCODEC_SHARED_LINKS)
  list(APPEND stage COMMAND ${CMAKE_COMMAND} -E create_symlink ${link_to} "${lib_dir}/${link}")
  set(link_to ${link})
endforeach()

set(staged ${ZCODEC_SHARED_FILE} ${ZCODEC_SHARED_LINKS} ${ZCODEC_STATIC_BUILT} ${ZCODEC_IMPORT_BUILT})
list(TRANSFORM staged PREPEND "${lib_dir}/")
add_custom_target(zcodec-cargo ALL
  COMMAND ${CMAKE_COMMAND} -E env --unset=MAKEFLAGS --unset=MFLAGS # a job server of make's would not answer
          --unset=CARGO_BUILD_TARGET ${cargo_environment}
          "${ZCODEC_CARGO}" rustc --lib --locked --profile "$<IF:$<CONFIG:Debug>,dev,release>"
          --crate-type cdylib,staticlib ${cargo_target} ${ZCODEC_CARGO_ARGS}
  ${stage}
  BYPRODUCTS ${staged}
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  COMMENT "Building the library with cargo"
  USES_TERMINAL VERBATIM)

configure_file(cmake/zcodec-targets.cmake.in zcodec-targets.cmake @ONLY)
set(zcodec_include_dir "${PROJECT_SOURCE_DIR}/include")
set(zcodec_library_dir "${lib_dir}")
set(zcodec_runtime_dir "${lib_dir}")
include("${PROJECT_BINARY_DIR}/zcodec-targets.cmake")
add_dependencies(zcodec::zcodec zcodec-cargo)
add_dependencies(zcodec::zcodec-static zcodec-cargo)

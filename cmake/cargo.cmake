# The target zcodec-cargo builds the library and lays it out in build/lib, or in build/lib/CONFIG if the generator has
# several configurations; zcodec::zcodec and zcodec::zcodec-static are what programs of this build link to.

# The first one of the PATH, otherwise that of rustup.
set(rustup_places "$ENV{HOME}/.cargo/bin" "$ENV{USERPROFILE}/.cargo/bin")
if(DEFINED ENV{CARGO_HOME})
  list(PREPEND rustup_places "$ENV{CARGO_HOME}/bin")
endif()
find_program(ZCODEC_CARGO cargo PATHS ${rustup_places})
file(STRINGS Cargo.toml rust_version REGEX "^rust-version = " LIMIT_COUNT 1)
string(REGEX MATCH "[0-9.]+" rust_version "${rust_version}")
if(NOT ZCODEC_CARGO)
  message(FATAL_ERROR "zcodec needs Rust ${rust_version} or later: there is no cargo in the PATH, and ZCODEC_CARGO is not set")
endif()
execute_process(COMMAND "${ZCODEC_CARGO}" --version --verbose WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  OUTPUT_VARIABLE cargo_version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "release: ([0-9.]+)" _ "${cargo_version}")
if(CMAKE_MATCH_1 VERSION_LESS rust_version)
  message(FATAL_ERROR "zcodec needs Rust ${rust_version} or later; ${ZCODEC_CARGO} is of version ${CMAKE_MATCH_1}")
endif()
string(REGEX MATCH "host: ([^\n]+)" _ "${cargo_version}")
set(triple "${CMAKE_MATCH_1}")
set(ZCODEC_CARGO_TARGET_DIR "${PROJECT_BINARY_DIR}/cargo" CACHE PATH "Where cargo builds")
set(ZCODEC_CARGO_TARGET "$ENV{CARGO_BUILD_TARGET}" CACHE STRING "Rust target triple; empty: that of CMake's compiler")
if(CMAKE_CROSSCOMPILING AND NOT ZCODEC_CARGO_TARGET)
  message(FATAL_ERROR "Set ZCODEC_CARGO_TARGET to the Rust target triple of ${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR}")
endif()
set(ZCODEC_CARGO_ARGS "" CACHE STRING "Further arguments for cargo, as a list")
# What CMake compiles for: with CMAKE_OSX_ARCHITECTURES, `-A` of Visual Studio, or a command prompt of MSVC, it may be
# another architecture than the host's.
set(architecture)
if(APPLE)
  set(architecture "${CMAKE_OSX_ARCHITECTURES}")
elseif(MSVC)
  set(architecture "${MSVC_C_ARCHITECTURE_ID}")
endif()
if(ZCODEC_CARGO_TARGET)
  set(triple "${ZCODEC_CARGO_TARGET}")
elseif(architecture MATCHES "^(arm64|ARM64)$")
  string(REGEX REPLACE "^[^-]+" "aarch64" triple "${triple}")
elseif(architecture MATCHES "^(x86_64|x64)$")
  string(REGEX REPLACE "^[^-]+" "x86_64" triple "${triple}")
elseif(architecture STREQUAL "X86")
  string(REGEX REPLACE "^[^-]+" "i686" triple "${triple}")
elseif(architecture)
  message(FATAL_ERROR "Set ZCODEC_CARGO_TARGET to the Rust target triple of ${architecture}; cargo builds for one "
                      "architecture at a time")
endif()

# The target is always named, because cargo's configuration may have another one, and then the files lie elsewhere.
set(cargo_output "${ZCODEC_CARGO_TARGET_DIR}/${triple}/$<IF:$<CONFIG:Debug>,debug,release>")
set(cargo_environment "CARGO_TARGET_DIR=${ZCODEC_CARGO_TARGET_DIR}")
if(CMAKE_OSX_DEPLOYMENT_TARGET)
  list(APPEND cargo_environment "MACOSX_DEPLOYMENT_TARGET=${CMAKE_OSX_DEPLOYMENT_TARGET}")
endif()
# On Windows and macOS, rustc finds compiler and linker by itself, unless another target is wanted.
if(NOT MSVC AND (ZCODEC_CARGO_TARGET OR NOT (WIN32 OR APPLE)))
  string(REPLACE "-" "_" variable "${triple}")
  string(TOUPPER "${variable}" VARIABLE)
  set(compiler "${CMAKE_C_COMPILER}")
  if(CMAKE_C_COMPILER_ARG1) # CC="ccache gcc": rustc wants one program
    set(compiler "${PROJECT_BINARY_DIR}/zcodec-cc")
    file(WRITE "${compiler}" "#!/bin/sh\nexec '${CMAKE_C_COMPILER}' ${CMAKE_C_COMPILER_ARG1} \"$@\"\n")
    file(CHMOD "${compiler}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
  list(APPEND cargo_environment "CC_${variable}=${compiler}" "CARGO_TARGET_${VARIABLE}_LINKER=${compiler}")
endif()
if(NOT MSVC)
  # Flags of a distribution may ask for gcc's link-time optimisation: rustc's linker knows nothing of such objects.
  list(APPEND cargo_environment "HOST_CFLAGS=$ENV{HOST_CFLAGS} -fno-lto" "TARGET_CFLAGS=$ENV{TARGET_CFLAGS} -fno-lto")
endif()

# Only these two crate types: if the Rust library is one of them, cargo does no link-time optimisation.
set(lib_dir "${PROJECT_BINARY_DIR}/lib")
get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(is_multi_config)
  string(APPEND lib_dir "/$<CONFIG>")
endif()
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
           sh "${PROJECT_SOURCE_DIR}/scripts/static-library.sh" "${cargo_output}/${built}" "${lib_dir}/${staged}")
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
          --crate-type cdylib,staticlib --target ${triple} ${ZCODEC_CARGO_ARGS}
  ${stage}
  BYPRODUCTS ${staged}
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  COMMENT "Building the library with cargo"
  USES_TERMINAL VERBATIM)

# As options: names would mean the targets of a program that are called so, such as its own `util`.
set(native_options ${ZCODEC_NATIVE_LIBS})
if(NOT MSVC)
  list(TRANSFORM native_options PREPEND "-l")
endif()
configure_file(cmake/zcodec-targets.cmake.in zcodec-targets.cmake @ONLY)
set(zcodec_include_dir "${PROJECT_SOURCE_DIR}/include")
set(zcodec_library_dir "${lib_dir}")
set(zcodec_runtime_dir "${lib_dir}")
include("${PROJECT_BINARY_DIR}/zcodec-targets.cmake")
foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES)
  string(TOUPPER "${config}" CONFIG)
  foreach(target zcodec::zcodec zcodec::zcodec-static)
    foreach(property IMPORTED_LOCATION IMPORTED_IMPLIB)
      get_target_property(file ${target} ${property})
      if(file)
        string(REPLACE "$<CONFIG>" "${config}" file "${file}")
        set_target_properties(${target} PROPERTIES ${property}_${CONFIG} "${file}")
      endif()
    endforeach()
  endforeach()
endforeach()
add_dependencies(zcodec::zcodec zcodec-cargo)
add_dependencies(zcodec::zcodec-static zcodec-cargo)

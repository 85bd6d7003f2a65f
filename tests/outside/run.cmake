# Installs into a prefix of its own, moves that, and builds and runs a small project against it: with CMake, and with
# pkg-config where there is one.

set(work "${BUILD_DIR}/outside")
set(prefix "${work}/moved")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${work}/prefix" --strip)
file(RENAME "${work}/prefix" "${prefix}")

if(STRIP)
  cmake_path(GET SHARED FILENAME name)
  file(GLOB_RECURSE installed "${prefix}/*/${name}")
  file(SIZE "${SHARED}" built_size)
  file(SIZE "${installed}" installed_size)
  if(NOT installed_size LESS built_size)
    message(FATAL_ERROR "install --strip left the symbols in: ${installed_size} of ${built_size} bytes")
  endif()
endif()

run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}" -B "${work}/build" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DZCODEC_VERSION=${VERSION}")
run(${CMAKE_COMMAND} --build "${work}/build" --config "${CONFIG}")
run(${CMAKE_CTEST_COMMAND} --test-dir "${work}/build" -C "${CONFIG}" --output-on-failure --no-tests=error)

find_program(PKG_CONFIG pkg-config pkgconf)
if(NOT PKG_CONFIG)
  message(STATUS "there is no pkg-config: zcodec.pc was not tried")
  return()
endif()
set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
function(flags_of variable)
  execute_process(COMMAND ${PKG_CONFIG} ${ARGN} zcodec OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(${variable} ${flags} PARENT_SCOPE)
endfunction()

flags_of(found --modversion)
if(NOT found STREQUAL VERSION)
  message(FATAL_ERROR "zcodec.pc says version ${found}, expected ${VERSION}")
endif()
flags_of(shared --cflags --libs)
run(${C_COMPILER} "${CMAKE_CURRENT_LIST_DIR}/main.c" -o "${work}/pc_shared" ${shared} "-Wl,-rpath,${prefix}/${LIBDIR}")
run("${work}/pc_shared")

# With only the static library in sight.
file(GLOB shared_files "${prefix}/${LIBDIR}/libzcodec.so*" "${prefix}/${LIBDIR}/libzcodec*.dylib")
file(REMOVE ${shared_files})
flags_of(static --static --cflags --libs)
run(${C_COMPILER} "${CMAKE_CURRENT_LIST_DIR}/main.c" -o "${work}/pc_static" ${static})
run("${work}/pc_static")

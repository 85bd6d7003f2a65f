# zcodec_strip_installed(FILE): `cmake --install --strip` takes the debug symbols out of FILE, which is absolute or within
# the prefix. CMake itself strips only what it has linked.
function(zcodec_strip_installed file)
  if(CMAKE_STRIP)
    install(CODE "
      if(CMAKE_INSTALL_DO_STRIP)
        cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix)
        cmake_path(APPEND prefix \"${file}\" OUTPUT_VARIABLE installed)
        execute_process(COMMAND \"${CMAKE_STRIP}\" -S \"\$ENV{DESTDIR}\${installed}\" COMMAND_ERROR_IS_FATAL ANY)
      endif()")
  endif()
endfunction()

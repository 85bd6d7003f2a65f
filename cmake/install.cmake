# Headers, libraries, zcodec.pc and the CMake package. The installation may be moved: paths are relative to the files.
include(CMakePackageConfigHelpers)

install(FILES include/zcodec.h include/zcodec.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(WIN32)
  install(PROGRAMS "${lib_dir}/${ZCODEC_SHARED_FILE}" DESTINATION ${CMAKE_INSTALL_BINDIR})
  zcodec_strip_installed("${CMAKE_INSTALL_BINDIR}/${ZCODEC_SHARED_FILE}")
  install(FILES "${lib_dir}/${ZCODEC_IMPORT_BUILT}" DESTINATION ${CMAKE_INSTALL_LIBDIR})
else()
  install(PROGRAMS "${lib_dir}/${ZCODEC_SHARED_FILE}" DESTINATION ${CMAKE_INSTALL_LIBDIR})
  zcodec_strip_installed("${CMAKE_INSTALL_LIBDIR}/${ZCODEC_SHARED_FILE}")
  list(TRANSFORM ZCODEC_SHARED_LINKS PREPEND "${lib_dir}/" OUTPUT_VARIABLE links)
  install(FILES ${links} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES "${lib_dir}/${ZCODEC_STATIC_BUILT}" DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zcodec)
configure_package_config_file(cmake/zcodec-config.cmake.in zcodec-config.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
# As the soname: the major version promises compatibility.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/zcodec-config-version.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/zcodec-config.cmake" "${PROJECT_BINARY_DIR}/zcodec-config-version.cmake"
              "${PROJECT_BINARY_DIR}/zcodec-targets.cmake"
        DESTINATION ${package_dir})

# Absolute install directories stay absolute; others are relative to the prefix, which is found from the file itself.
foreach(name includedir libdir)
  string(TOUPPER CMAKE_INSTALL_${name} variable)
  if(IS_ABSOLUTE "${${variable}}")
    set(zcodec_pc_${name} "${${variable}}")
  else()
    set(zcodec_pc_${name} "\${prefix}/${${variable}}")
  endif()
endforeach()
file(RELATIVE_PATH zcodec_pc_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
list(TRANSFORM ZCODEC_NATIVE_LIBS PREPEND "-l" OUTPUT_VARIABLE zcodec_pc_libs_private)
list(JOIN zcodec_pc_libs_private " " zcodec_pc_libs_private)
configure_file(cmake/zcodec.pc.in zcodec.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/zcodec.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

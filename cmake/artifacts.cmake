# The names of the files on this platform, and the system libraries that the static library needs.
#
#   ZCODEC_SHARED_BUILT, ZCODEC_STATIC_BUILT, ZCODEC_IMPORT_BUILT   as cargo names them; the last only on Windows
#   ZCODEC_SHARED_FILE    as it is installed, with the full version
#   ZCODEC_SHARED_SONAME  what programs look for at run time; build.rs writes it into the library
#   ZCODEC_SHARED_LINKS   symbolic links to make, each to the one before it, the first to ZCODEC_SHARED_FILE
#   ZCODEC_NATIVE_LIBS    what `cargo rustc --lib --crate-type staticlib -- --print native-static-libs` names

if(WIN32)
  set(ZCODEC_SHARED_BUILT zcodec.dll)
  set(ZCODEC_SHARED_FILE zcodec.dll)
  set(ZCODEC_SHARED_SONAME)
  set(ZCODEC_SHARED_LINKS)
  if(MSVC)
    set(ZCODEC_STATIC_BUILT zcodec.lib)
    set(ZCODEC_IMPORT_BUILT zcodec.dll.lib)
    set(ZCODEC_NATIVE_LIBS kernel32 ntdll userenv ws2_32 dbghelp)
  else()
    set(ZCODEC_STATIC_BUILT libzcodec.a)
    set(ZCODEC_IMPORT_BUILT libzcodec.dll.a)
    set(ZCODEC_NATIVE_LIBS kernel32 ntdll userenv ws2_32 dbghelp gcc_eh pthread)
  endif()
elseif(APPLE)
  set(ZCODEC_SHARED_BUILT libzcodec.dylib)
  set(ZCODEC_STATIC_BUILT libzcodec.a)
  set(ZCODEC_SHARED_FILE libzcodec.${PROJECT_VERSION}.dylib)
  set(ZCODEC_SHARED_SONAME @rpath/libzcodec.${PROJECT_VERSION_MAJOR}.dylib)
  set(ZCODEC_SHARED_LINKS libzcodec.${PROJECT_VERSION_MAJOR}.dylib libzcodec.dylib)
  set(ZCODEC_NATIVE_LIBS iconv m)
else()
  set(ZCODEC_SHARED_BUILT libzcodec.so)
  set(ZCODEC_STATIC_BUILT libzcodec.a)
  set(ZCODEC_SHARED_FILE libzcodec.so.${PROJECT_VERSION})
  set(ZCODEC_SHARED_SONAME libzcodec.so.${PROJECT_VERSION_MAJOR})
  set(ZCODEC_SHARED_LINKS libzcodec.so.${PROJECT_VERSION_MAJOR} libzcodec.so)
  set(ZCODEC_NATIVE_LIBS gcc_s util rt pthread m dl)
endif()

# What MinGW of Debian adds to libraries for Windows, with the files of its licences, for scripts/licences.py.
mingw_runtimes=("libgcc and libgcc_eh of GCC=/usr/share/doc/gcc-mingw-w64-base/copyright"
  "mingw-w64 with winpthreads=/usr/share/doc/mingw-w64-common/copyright")

# What differs between the platforms of a release. `platform TARGET` installs what the platform needs, and sets
#
#   tool             prefix of the GNU tools
#   shared           the shared library, under the folder of the installation
#   suffix           of the archive
#   runner           what runs a program, as words
#   cmake_platform   arguments of cmake for any build for the platform
#   cmake_programs   the same, for the programs that try an archive
#
# and these functions, each of which takes the folder of an installation:
#
#   finish           adds what CMake does not install
#   check            fails if the shared library needs or exports what it should not
#   before_running   sets the environment for programs with the shared library
platform() {
  tool="" suffix=tar.gz runner=() cmake_platform=() cmake_programs=()
  shared=lib/libzcodec.so.$version
  finish() { :; }
  before_running() { :; }
  check() { check_linux "$1/$shared"; }
  case $1 in
    x86_64-unknown-linux-gnu) ;;
    aarch64-unknown-linux-gnu) aarch64 ;;
    x86_64-pc-windows-gnu) windows ;;
    *) echo "dist: $1 is not a platform of a release" >&2; return 1 ;;
  esac
}

aarch64() {
  tool=aarch64-linux-gnu-
  needs gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
  runner=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
  cmake_platform=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=${tool}gcc
    -DCMAKE_CXX_COMPILER=${tool}g++ "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64;-L;/usr/aarch64-linux-gnu")
}

windows() {
  tool=x86_64-w64-mingw32- shared=bin/zcodec.dll suffix=zip
  needs gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 wine64 libz-mingw-w64-dev
  runner=(/usr/lib/wine/wine64)
  # zcodec.hpp needs std::mutex, which this gcc has with POSIX threads only.
  cmake_platform=(-DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 -DCMAKE_C_COMPILER=${tool}gcc
    -DCMAKE_CXX_COMPILER=${tool}g++-posix -DCMAKE_CROSSCOMPILING_EMULATOR=/usr/lib/wine/wine64)
  # The C++ library of the compiler inside the programs, not beside them.
  cmake_programs=(-DCMAKE_EXE_LINKER_FLAGS=-static)
  finish() { import_libraries "$1"; }
  check() {
    check_windows "$1/$shared"
    check_windows_static "$1"
  }
  before_running() { wine_environment "$1"; }
}

# check_linux LIBRARY: fails if it needs a symbol of a newer glibc, or exports other names than those of the header.
check_linux() {
  local newest
  # All versions that it names, such as GLIBC_ABI_DT_RELR, which no symbol has.
  newest=$("${tool}objdump" -p "$1" | grep -o 'GLIBC_[0-9A-Z_.]*' | sort -uV | tail -n 1)
  echo "$(basename "$1") needs $newest"
  [ "$(printf '%s\n' "GLIBC_$GLIBC" "$newest" | sort -V | tail -n 1)" = "GLIBC_$GLIBC" ]
  "${tool}nm" -D --defined-only "$1" | awk '{print $3}' | diff - <(sort abi/symbols.txt)
}

# import_libraries PREFIX: zcodec.def, and from it zcodec.lib for MSVC and libzcodec.dll.a for MinGW. Cargo's own import
# library has times in it.
import_libraries() {
  local lib=$1/lib
  { printf 'LIBRARY zcodec.dll\nEXPORTS\n' && sed 's/^/  /' abi/symbols.txt; } >"$lib/zcodec.def"
  python-zig dlltool -m i386:x86-64 -d "$lib/zcodec.def" -l "$lib/zcodec.lib"
  "${tool}dlltool" --deterministic-libraries --input-def "$lib/zcodec.def" --output-lib "$lib/libzcodec.dll.a" \
    --temp-prefix zcodec
}

# check_windows LIBRARY: fails if it needs a library that Windows 10 does not have, or exports other names than those of
# the header.
check_windows() {
  local needed
  needed=$("${tool}objdump" -p "$1" | sed -n 's/.*DLL Name: //p' | tr '[:upper:]' '[:lower:]' | sort -u)
  echo "zcodec.dll needs" $needed
  [ -z "$(grep -vE '^(kernel32|ntdll|userenv|ws2_32|dbghelp|msvcrt|bcryptprimitives|advapi32|api-ms-win-.*)\.dll$' <<<"$needed")" ]
  "${tool}objdump" -p "$1" | awk '/Ordinal\/Name Pointer/ {on = 1; next} on && !NF {on = 0} on && /\[/ {print $NF}' | sort |
    diff - <(sort abi/symbols.txt)
}

# check_windows_static PREFIX: fails if the static library gives a program other names than those of the header, or does
# not work beside other copies of what it holds.
check_windows_static() {
  wine_environment "$1"
  TOOL=$tool RUNNER="${runner[*]}" tests/static/windows.sh "$1/lib/libzcodec.a" \
    target/dist/x86_64-pc-windows-gnu/cargo/x86_64-pc-windows-gnu/release/build \
    $(sed -n 's/^Libs.private: //p' "$1/lib/pkgconfig/zcodec.pc")
}

# wine_environment PREFIX: where programs find zcodec.dll, and the library of Windows that wine 8 lacks.
wine_environment() {
  local folder=$PWD/target/dist/wine
  mkdir -p "$folder"
  "${tool}gcc" -shared -o "$folder/bcryptprimitives.dll" tests/cross/process_prng.c
  export WINEPREFIX=$folder/prefix WINEDEBUG=-all WINEPATH="$folder;$1/bin"
}

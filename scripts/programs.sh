# build_programs FOLDER C_COMPILER CXX_COMPILER SOURCE... -- FLAGS...: compiles every test program into FOLDER, as
# "NAME-LANGUAGE", with the standard that it is written for. $version is that of the library.
build_programs() {
  local folder=$1 c=$2 cxx=$3 source sources=() compiler
  shift 3
  while [ "$1" != -- ]; do
    sources+=("$1")
    shift
  done
  shift
  rm -rf "$folder"
  mkdir -p "$folder"
  for source in "${sources[@]}"; do
    compiler=("$c" -std=c99 -D_POSIX_C_SOURCE=200809L)
    [[ $source == *.c ]] || compiler=("$cxx" -std=c++17)
    [[ $source != */span.cpp ]] || compiler=("$cxx" -std=c++20)
    [[ $source != tests/abi/* ]] || compiler+=(-Itests/abi/0.1)
    "${compiler[@]}" -O1 -DEXPECTED_VERSION="\"$version\"" -Itests/c -Iinclude "$source" \
      -o "$folder/$(basename "${source%.*}")-${source##*.}" "$@"
  done
}

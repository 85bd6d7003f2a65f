# For Yggdrasil: zcodec_jll. The hash is that of the commit of the tag.
using BinaryBuilder

name = "zcodec"
version = v"0.2.5"

sources = [
    GitSource("https://github.com/OWNER/zcodec.git", "0000000000000000000000000000000000000000"),
]

# Julia loads shared libraries only. Cargo without the static one: CMake's build would make both.
script = raw"""
cd ${WORKSPACE}/srcdir/zcodec
cargo rustc --lib --locked --release --crate-type cdylib
install -Dvm 755 "target/${rust_target}/release/"*zcodec.${dlext} "${libdir}/libzcodec.${dlext}"
install -Dvm 644 include/zcodec.h "${includedir}/zcodec.h"
python3 scripts/licences.py "${rust_target}" >LICENCES.txt # of all that is linked
install_license LICENSE-MIT LICENSE-APACHE LICENCES.txt
"""

# Those with 64 bits. BinaryBuilder has no Rust toolchain for FreeBSD on aarch64, nor for riscv64.
platforms = filter(supported_platforms()) do platform
    nbits(platform) == 64 && !(Sys.isfreebsd(platform) && arch(platform) == "aarch64") && arch(platform) != "riscv64"
end

products = [LibraryProduct(["libzcodec", "zcodec"], :libzcodec)]

dependencies = Dependency[]

build_tarballs(ARGS, name, version, sources, script, platforms, products, dependencies;
               julia_compat="1.6", compilers=[:c, :rust], preferred_rust_version=v"1.93")

//! Names the shared library: the soname (Linux, BSDs) or install name (macOS) carries the major version.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let major = var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets it");
    let version = var("CARGO_PKG_VERSION").expect("cargo sets it");
    let (family, os, vendor) = (
        var("CARGO_CFG_TARGET_FAMILY").unwrap_or_default(),
        var("CARGO_CFG_TARGET_OS").unwrap_or_default(),
        var("CARGO_CFG_TARGET_VENDOR").unwrap_or_default(),
    );
    if vendor == "apple" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libzcodec.{major}.dylib");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-current_version,{version},-compatibility_version,{major}.0.0");
    } else if family.split(',').any(|name| name == "unix") && os != "android" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libzcodec.so.{major}");
    }
}

//! `include/zcodec.h` is what cbindgen makes of the source.
//!
//! `ZCODEC_UPDATE_HEADER=1 cargo test --test header` writes it.

use std::path::Path;

#[test]
fn the_header_is_what_the_source_generates() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_root_or_default(root);
    let mut generated = Vec::new();
    cbindgen::Builder::new()
        .with_crate(root)
        .with_config(config)
        .generate()
        .expect("cbindgen understands the source")
        .write(&mut generated);
    let generated = String::from_utf8(generated).expect("the header is UTF-8");
    let path = root.join("include/zcodec.h");
    if std::env::var_os("ZCODEC_UPDATE_HEADER").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(committed == generated, "include/zcodec.h is out of date: ZCODEC_UPDATE_HEADER=1 cargo test --test header");
}

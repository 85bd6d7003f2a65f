//! `include/zcodec.h` is what cbindgen generates from the source, with a heading above each section.
//!
//! `ZCODEC_UPDATE_HEADER=1 cargo test --test header` writes it.

use std::path::Path;

/// The first function of each section, in the order of the header.
const SECTIONS: [(&str, &str); 13] = [
    ("zcodec_chain_new", "Chains"),
    ("zcodec_encode", "Encoding and decoding"),
    ("zcodec_decode_view", "Boxes and views"),
    ("zcodec_plan_new", "Plans: the bytes are somewhere else"),
    ("zcodec_index_memory", "Indices of shards"),
    ("zcodec_writer_new", "Writers: shards made and changed by their inner chunks"),
    ("zcodec_decode_tasks", "Many chunks in one call"),
    ("zcodec_buffer_data", "Buffers"),
    ("zcodec_chain_decoded_size", "Asking a chain"),
    ("zcodec_chain_set_padding", "Padding"),
    ("zcodec_registry_new", "Codecs of the host"),
    ("zcodec_status_name", "Errors"),
    ("zcodec_supported_json", "The library"),
];

fn generate(root: &Path) -> String {
    let mut config = cbindgen::Config::from_root_or_default(root);
    config.after_includes = Some(format!(
        "\n/* The version of this header; zcodec_version is that of the library. */\n#define ZCODEC_VERSION_MAJOR {}\n#define \
         ZCODEC_VERSION_MINOR {}\n#define ZCODEC_VERSION_PATCH {}",
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR"),
        env!("CARGO_PKG_VERSION_PATCH")
    ));
    let mut generated = Vec::new();
    cbindgen::Builder::new()
        .with_crate(root)
        .with_config(config)
        .generate()
        .expect("cbindgen understands the source")
        .write(&mut generated);
    with_headings(with_underlying_types(&String::from_utf8(generated).expect("the header is UTF-8")))
}

/// Gives the enums an underlying type in C++: without one, a number that a later version of the library returns would
/// be undefined behaviour there.
fn with_underlying_types(header: &str) -> String {
    let begin = "typedef enum zcodec_";
    let with_type = |line: &str| match line.strip_suffix(" {").filter(|line| line.starts_with(begin)) {
        Some(name) => format!("{name}\n#ifdef __cplusplus\n  : int\n#endif // __cplusplus\n{{\n"),
        None => format!("{line}\n"),
    };
    header.lines().map(with_type).collect()
}

/// Puts the title of each section above the comment of its first function.
fn with_headings(mut header: String) -> String {
    let mut end_of_last = 0;
    for (function, title) in SECTIONS {
        let declaration = header.find(&format!("{function}(")).expect("the function is exported");
        let comment = header[..declaration].rfind("/**").expect("the function has a comment");
        assert!(comment > end_of_last, "{function} stands before the previous section");
        let heading = format!("/* ---- {title} {} */\n\n", "-".repeat(86 - title.len()));
        header.insert_str(comment, &heading);
        end_of_last = declaration + heading.len();
    }
    header
}

#[test]
fn the_header_is_what_the_source_generates() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let generated = generate(root);
    let path = root.join("include/zcodec.h");
    if std::env::var_os("ZCODEC_UPDATE_HEADER").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(committed == generated, "include/zcodec.h is out of date: ZCODEC_UPDATE_HEADER=1 cargo test --test header");
}

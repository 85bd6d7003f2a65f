//! `cast_value` and `scale_offset` against exact rational arithmetic, written from the specifications alone.
//!
//! `ZCODEC_ORACLE_COUNT=500 cargo test --test oracle` tries this many random elements per pair of types instead of
//! 16, and scales everything else alike; another count also gives other elements.

mod cast;
mod number;
mod sample;
mod scale;

use number::{Number, Type};
use zcodec::Status;
use zcodec::chain::{CallOptions, Chain};

/// The result for an element.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Image {
    Bits(u64),
    AnyNan,
    /// An error.
    None,
}

/// Elements and their images.
type Images = Vec<(u64, Image)>;

fn count() -> usize {
    std::env::var("ZCODEC_ORACLE_COUNT").map_or(16, |count| count.parse().expect("ZCODEC_ORACLE_COUNT is a number"))
}

/// One direction of a chain.
struct Direction<'a> {
    chain: &'a Chain,
    is_encode: bool,
    source: &'a Type,
    target: &'a Type,
    /// For messages.
    what: &'a str,
}

/// More elements than the vector kernels take in one turn, with a rest.
const GROUP: usize = 72;

impl Direction<'_> {
    /// Runs all the elements at once, then those that have an image, together and a few neighbours at a time, for
    /// there are kernels for easy ones alone; then each of the others among some that have one.
    fn check(&self, images: &Images) {
        if let Some(index) = images.iter().position(|(_, image)| *image == Image::None) {
            self.expect_fault(images, index);
        }
        let (bad, mut good): (Images, Images) = images.iter().partition(|(_, image)| *image == Image::None);
        self.expect_images(&good);
        good.sort_unstable_by_key(|(pattern, _)| *pattern);
        for neighbours in good.chunks(5) {
            self.expect_images(&neighbours.iter().copied().cycle().take(GROUP).collect());
        }
        good.truncate(GROUP);
        for (turn, element) in bad.into_iter().enumerate() {
            let index = turn % (good.len() + 1);
            good.insert(index, element);
            self.expect_fault(&good, index);
            good.remove(index);
        }
    }

    fn run(&self, images: &Images) -> zcodec::Result<Vec<u8>> {
        let patterns: Vec<u64> = images.iter().map(|(pattern, _)| *pattern).collect();
        let chain = self.chain.with_shape(&[patterns.len() as u64])?;
        let options = CallOptions::default();
        if self.is_encode {
            // Bits above the N bits are not read.
            chain.encode_to_vec(&self.source.store(&patterns, 0x5A), &options)
        } else {
            chain.decode_to_vec(&self.source.store(&patterns, 0), &options)
        }
    }

    fn expect_images(&self, images: &Images) {
        let found = self.run(images).unwrap_or_else(|error| panic!("{}: {error}", self.of(images[0].0)));
        let found = self.target.load(&found);
        assert_eq!(found.len(), images.len());
        for ((pattern, image), found) in images.iter().zip(found) {
            let is_right = match *image {
                Image::Bits(expected) => expected == found,
                Image::AnyNan => self.target.number(found) == Number::Nan,
                Image::None => false,
            };
            assert!(is_right, "{} gives {found:#x}, expected {image:x?}", self.of(*pattern));
        }
    }

    fn expect_fault(&self, images: &Images, index: usize) {
        let what = self.of(images[index].0);
        let error = self.run(images).expect_err(&what);
        assert_eq!((error.status(), error.element_index()), (Status::OutOfRange, Some(index as u64)), "{what}");
    }

    fn of(&self, pattern: u64) -> String {
        let verb = if self.is_encode { "encode" } else { "decode" };
        format!("{verb} {pattern:#x}, {}", self.what)
    }
}

/// Both directions of a chain.
fn check(chain: &Chain, source: &Type, target: &Type, forth: &Images, back: &Images, what: &str) {
    Direction { chain, is_encode: true, source, target, what }.check(forth);
    Direction { chain, is_encode: false, source: target, target: source, what }.check(back);
}

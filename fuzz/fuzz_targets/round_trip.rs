//! decode(encode(x)) is x for lossless chains. For casts it is a value that further round trips do not change, if it is
//! in range. Every way to encode gives the same bytes, wherever the elements lie, and every way to decode the same
//! elements.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use zcodec::chain::{CallOptions, Chain};
use zcodec::strided::{self, Layout, Source, Target};
use zcodec::{Result, Status};
use zcodec_fuzz::structured::{ChainSpec, Promise};
use zcodec_fuzz::with_threads;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    chain: ChainSpec,
    place: Place,
    bytes: &'a [u8],
}

/// Where the elements of a view lie.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct Place {
    is_reversed: bool,
    is_backwards: bool,
    gap: u8,
}

impl Place {
    /// Strides, the offset of the first element, and the size of the memory.
    fn layout(self, shape: &[u64], element_size: usize) -> Layout {
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        if self.is_reversed {
            order.reverse();
        }
        let (mut strides, mut step, mut offset) = (vec![0_i64; shape.len()], element_size as i64, 0_usize);
        for dimension in order {
            let size = shape[dimension] as i64;
            strides[dimension] = if self.is_backwards { -step } else { step };
            if self.is_backwards {
                offset += (step * (size - 1).max(0)) as usize;
            }
            step = step * size.max(1) + i64::from(self.gap % 8) * element_size as i64;
        }
        Layout::new(element_size, shape, Some(&strides), offset, step as usize).expect("the memory is large enough")
    }
}

/// Encodes and decodes the elements at this place.
fn check_view(chain: &Chain, place: Place, decoded: &[u8], first: &Result<Vec<u8>>, is_deterministic: bool) {
    let (Ok(shape), Ok(element_size)) = (chain.shape(), chain.element_size()) else { return };
    let layout = place.layout(shape, element_size);
    let mut memory = vec![0xA5_u8; layout.end()];
    let mut target = Target::new(&mut memory, layout.clone()).expect("it fits");
    let elements = Source::contiguous(decoded, element_size, shape).expect("the array has this size");
    strided::copy(&elements, &mut target).expect("they have the same shape");
    let (start, options) = (vec![0; shape.len()], with_threads(2));
    let mut encoded = vec![0; chain.encoded_bound(decoded.len() as u64).expect("it is small") as usize];
    let source = Source::new(&memory, layout.clone()).expect("it fits");
    let size = chain.encode_view(&start, source, &mut encoded, &options);
    let found = size.map(|size| encoded[..size].to_vec());
    if is_deterministic {
        assert_eq!(&found, first, "the place changes what is encoded");
    }
    let Ok(encoded) = first else { return };
    let expected = chain.decode_to_vec(encoded, &CallOptions::default());
    let target = Target::new(&mut memory, layout.clone()).expect("it fits");
    let done = chain.decode_view(encoded, &start, target, &options);
    assert_eq!(done.as_ref().err(), expected.as_ref().err(), "the place changes the error");
    if let Ok(expected) = expected {
        let found: Vec<u8> = Source::new(&memory, layout).expect("it fits").rows().flatten().copied().collect();
        assert_eq!(found, expected, "the place changes what is decoded");
    }
}

fuzz_target!(|input: Input<'_>| {
    let Some(chain) = input.chain.build() else { return };
    let decoded = input.chain.elements(&chain, input.bytes);
    let options = CallOptions::default();
    let first = chain.encode_to_vec(&decoded, &options);
    let threaded = chain.encode_to_vec(&decoded, &with_threads(4));
    if input.chain.is_deterministic() {
        assert_eq!(first, threaded, "threads change the result");
    } else {
        assert_eq!(first.as_ref().err(), threaded.as_ref().err(), "threads change the result");
    }
    check_view(&chain, input.place, &decoded, &first, input.chain.is_deterministic());
    let encoded = match first {
        Ok(encoded) => encoded,
        Err(error) => {
            // Of numcodecs.fixedscaleoffset.
            let is_only_decoded = error.status() == Status::Unsupported && error.to_string().contains("only decoded");
            assert!(is_only_decoded || error.status() == Status::OutOfRange, "{error}");
            return;
        }
    };
    assert!(chain.encoded_bound(decoded.len() as u64).is_some_and(|bound| encoded.len() as u64 <= bound));
    let again = match chain.decode_to_vec(&encoded, &options) {
        Ok(again) => again,
        // A rounded value may be out of range on the way back.
        Err(error) if input.chain.promise() != Promise::Lossless => {
            assert_eq!(error.status(), Status::OutOfRange, "{error}");
            return;
        }
        Err(error) => panic!("what encode made does not decode: {error}"),
    };
    match input.chain.promise() {
        Promise::Lossless => assert_eq!(again, decoded),
        Promise::Stable => {
            let encoded_again = match chain.encode_to_vec(&again, &options) {
                Ok(encoded_again) => encoded_again,
                Err(error) if input.chain.clamps() && error.to_string().contains("Infinity, which") => {
                    assert_eq!(error.status(), Status::OutOfRange, "{error}");
                    return;
                }
                Err(error) => panic!("a decoded value cannot be encoded: {error}"),
            };
            let image = chain.decode_to_vec(&encoded_again, &options).expect("and it decodes");
            assert_eq!(image, again);
        }
        Promise::Size => assert_eq!(again.len(), decoded.len()),
    }
});

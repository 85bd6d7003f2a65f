//! Plans whose bytes are damaged, the index included: a plan decodes what decode_view decodes, and nothing else.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use zcodec::Status;
use zcodec::chain::CallOptions;
use zcodec::strided::Target;
use zcodec_fuzz::shard::{BoxSpec, ShardSpec, decode_by_plan};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    shard: ShardSpec,
    part: BoxSpec,
    /// What is done to the object: at a position, counted from the end, this byte is written.
    damage: Vec<(u16, u8)>,
    cut: u8,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let (chain, element_size) = (input.shard.build(), input.shard.element_size());
    let mut decoded = vec![0; chain.decoded_size().expect("an array enters") as usize];
    decoded.iter_mut().zip(input.bytes).for_each(|(element, byte)| *element = *byte);
    let mut object = chain.encode_to_vec(&decoded, &CallOptions::default()).expect("all elements are in range");
    for (position, byte) in &input.damage {
        let position = object.len() - 1 - usize::from(*position) % object.len();
        object[position] = *byte;
    }
    object.truncate(object.len() - object.len().min(usize::from(input.cut)));
    let (start, shape) = input.part.within(chain.shape().expect("an array enters"));
    let mut expected = vec![0xA5; (shape[0] * shape[1]) as usize * element_size];
    let target = Target::contiguous(&mut expected, element_size, &shape).expect("it fits");
    let direct = chain.decode_view(&object, &start, target, &CallOptions::default());
    let known = decode_by_plan(&chain, &object, true, (start, shape), element_size);
    let known = known.expect("nothing outside an object of known size");
    // A plan looks at the size of the object even if the box is empty.
    if !expected.is_empty() {
        assert_eq!(known.is_ok(), direct.is_ok(), "{known:?} by a plan, {direct:?} directly");
    }
    if let (Ok(found), Ok(())) = (&known, &direct) {
        assert_eq!(*found, expected);
    }
    if let Some(Ok(found)) = decode_by_plan(&chain, &object, false, (start, shape), element_size) {
        assert!(expected.is_empty() || direct.is_err() || found == expected, "another result if the size is unknown");
    }
    for error in [known.err(), direct.err()].into_iter().flatten() {
        assert!([Status::CorruptData, Status::OutOfRange].contains(&error.status()), "{error}");
    }
});

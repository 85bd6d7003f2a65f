//! Any sequence of puts makes the array that it makes in memory; a damaged old object gives a status.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use zcodec::chain::{ByteRange, CallOptions, Chain, PieceBytes, ShardLayout, Writer};
use zcodec::strided::Source;
use zcodec::{Error, Status};
use zcodec_fuzz::shard::{BoxSpec, ShardSpec, bytes_of};

#[derive(Debug, Arbitrary)]
struct Input {
    shard: ShardSpec,
    stores_empty: bool,
    rounds: Vec<Round>,
    /// What is done to the last object before the last round: at a position, counted from the end, this byte is written.
    damage: Vec<(u16, u8)>,
}

#[derive(Debug, Arbitrary)]
struct Round {
    puts: Vec<(BoxSpec, u8, u8)>,
    is_appended: bool,
}

/// Puts, in memory too; the new object.
fn write(
    chain: &Arc<Chain>,
    element_size: usize,
    old: Option<&[u8]>,
    round: &Round,
    options: &CallOptions,
    array: &mut [u8],
) -> Result<Option<Vec<u8>>, Error> {
    let shape = chain.shape()?.to_vec();
    let index = match old {
        Some(object) => {
            let Some(bytes) = bytes_of(object, chain.index_range()?) else { return Ok(None) };
            Some((Arc::new(chain.decode_index(bytes, Some(object.len() as u64))?), object.len() as u64))
        }
        None => None,
    };
    let old = old.unwrap_or_default();
    let mut writer = Writer::new(chain, options.clone(), index)?;
    for (part, first, step) in &round.puts {
        let (start, size) = part.within(&shape);
        let count = (size[0] * size[1]) as usize * element_size;
        let elements: Vec<u8> = (0..count).map(|i| first.wrapping_add(step.wrapping_mul(i as u8))).collect();
        writer.put(&start, Source::contiguous(&elements, element_size, &size)?)?;
        for row in 0..size[0] {
            let at = ((start[0] + row) * shape[1] + start[1]) as usize * element_size;
            let row_size = size[1] as usize * element_size;
            array[at..at + row_size].copy_from_slice(&elements[row as usize * row_size..][..row_size]);
        }
    }
    let ranges: Vec<ByteRange> = writer.next_stage()?.collect();
    for (index, range) in ranges.into_iter().enumerate() {
        let bytes = bytes_of(old, range).expect("ranges lie within the old object");
        writer.supply(index, bytes)?;
    }
    let layout = if round.is_appended { ShardLayout::Append } else { ShardLayout::Packed };
    let (pieces, size) = writer.finish(layout)?;
    let mut object = if round.is_appended { old.to_vec() } else { Vec::new() };
    for piece in pieces {
        assert!(object[..old.len().min(object.len())] == old[..old.len().min(object.len())] || !round.is_appended);
        let bytes = match &piece.bytes {
            PieceBytes::Old(range) => &old[range.start as usize..range.end as usize],
            PieceBytes::New(bytes) => bytes.as_slice(),
        };
        let start = piece.offset as usize;
        object.resize(object.len().max(start + bytes.len()), 0xEE);
        object[start..start + bytes.len()].copy_from_slice(bytes);
    }
    assert_eq!(object.len() as u64, size);
    Ok(Some(object))
}

fuzz_target!(|input: Input| {
    let (chain, element_size) = (input.shard.build(), input.shard.element_size());
    let options = CallOptions { stores_empty: input.stores_empty, ..CallOptions::default() };
    let mut array = vec![0; chain.decoded_size().expect("an array enters") as usize];
    let mut old: Option<Vec<u8>> = None;
    for (index, round) in input.rounds.iter().enumerate() {
        let mut is_damaged = false;
        if let (true, Some(object)) = (index + 1 == input.rounds.len(), &mut old) {
            for (position, byte) in &input.damage {
                let position = object.len() - 1 - usize::from(*position) % object.len();
                is_damaged |= std::mem::replace(&mut object[position], *byte) != *byte;
            }
        }
        match write(&chain, element_size, old.as_deref(), round, &options, &mut array) {
            Ok(Some(object)) if !is_damaged => {
                let decoded = chain.decode_to_vec(&object, &options).expect("a writer's object decodes");
                assert_eq!(decoded, array);
                old = Some(object);
            }
            Ok(_) => assert!(is_damaged),
            Err(error) => {
                assert!(is_damaged, "{error}");
                assert_eq!(error.status(), Status::CorruptData, "{error}");
            }
        }
    }
});

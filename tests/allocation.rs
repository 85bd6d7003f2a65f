//! The memory that calls take, their behaviour when there is none, and that they leak none: counted by an allocator
//! that refuses allocations over a limit. The C libraries have their own allocations; the leak sanitizer counts those.
#![allow(unsafe_code, reason = "an allocator is unsafe to write")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::os::raw::c_void;
use std::panic::resume_unwind;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zcodec::capi::{self, zcodec_chain, zcodec_status};
use zcodec::chain::{ByteRange, CallData, CallOptions, Chain, Executor, PaddingHook, ReadPlan};
use zcodec::strided::Target;
use zcodec::{Error, Status};

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static LARGEST_ALLOWED: Cell<usize> = const { Cell::new(usize::MAX) };
}

struct Counting;

fn count(change: isize) {
    LIVE.set(LIVE.get() + change);
    PEAK.set(PEAK.get().max(LIVE.get()));
}

// SAFETY: the system's allocator does the work; a refusal is NULL.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST_ALLOWED.get() {
            return null_mut();
        }
        // SAFETY: the caller's contract is the same.
        let pointer = unsafe { System.alloc(layout) };
        if !pointer.is_null() {
            count(layout.size().cast_signed());
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The result of `work` when no allocation over `largest` bytes succeeds.
fn with_largest<T>(largest: usize, work: impl FnOnce() -> T) -> T {
    LARGEST_ALLOWED.set(largest);
    let result = work();
    LARGEST_ALLOWED.set(usize::MAX);
    result
}

/// The result of `work`, and its peak memory over that before it.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = work();
    (result, (PEAK.get() - before).cast_unsigned())
}

fn chain(codecs: &str, shape: &str) -> Result<Chain, Error> {
    let input = format!(r#"{{"data_type":"uint16","shape":{shape},"fill_value":0}}"#);
    Chain::new(codecs.as_bytes(), Some(input.as_bytes()))
}

const BYTES: &str = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;
const TRANSPOSE: &str = r#"{"name":"transpose","configuration":{"order":[1,0]}}"#;
const SIZE: usize = 2 * 500 * 500;

fn chains() -> Vec<Chain> {
    let tails = [
        "",
        r#","gzip""#,
        r#","zstd","crc32c""#,
        r#","zstd","gzip",{"name":"pad","configuration":{"location":"start","nbytes":9}}"#,
    ];
    let heads = [BYTES.to_owned(), format!("{TRANSPOSE},{BYTES}")];
    heads
        .iter()
        .flat_map(|head| tails.iter().map(move |tail| chain(&format!("[{head}{tail}]"), "[500,500]").unwrap()))
        .collect()
}

fn decoded() -> Vec<u8> {
    (0..SIZE).map(|i| (i / 7 * 31) as u8).collect()
}

#[test]
fn memory_of_the_size_of_a_chunk_that_cannot_be_had_is_a_status_and_the_chain_goes_on() {
    let options = CallOptions::default();
    for chain in chains() {
        let decoded = decoded();
        let encoded = chain.encode_to_vec(&decoded, &options).unwrap();
        // One that has kept no memory of earlier calls.
        let fresh = Chain::new(
            chain.codecs_json().to_string().as_bytes(),
            Some(chain.input().to_json().to_string().as_bytes()),
        )
        .unwrap();
        for largest in [SIZE / 2, SIZE - 1] {
            let encoding = with_largest(largest, || fresh.encode_to_vec(&decoded, &options));
            assert_eq!(encoding.unwrap_err().status(), Status::OutOfMemory, "{}", chain.codecs_json());
            let decoding = with_largest(largest, || fresh.decode_to_vec(&encoded, &options));
            assert_eq!(decoding.unwrap_err().status(), Status::OutOfMemory, "{}", chain.codecs_json());
        }
        assert_eq!(fresh.encode_to_vec(&decoded, &options).unwrap(), encoded);
        assert_eq!(fresh.decode_to_vec(&encoded, &options).unwrap(), decoded);
    }
}

/// `zfp` encodes pieces of the chunk, on one thread one after the other, and reads aligned elements in place.
#[test]
fn memory_for_a_piece_of_zfp_that_cannot_be_had_is_a_status_and_one_piece_is_enough() {
    let input = br#"{"data_type":"int32","shape":[4194304],"fill_value":0}"#;
    let codecs = br#"[{"name":"zfp","configuration":{"mode":"reversible"}}]"#;
    let chain = Chain::new(codecs, Some(input)).unwrap();
    let memory = vec![0; 4 * 4_194_304 + 1];
    let decoded = &memory[1..];
    let mut encoded = vec![0; chain.encoded_bound(decoded.len() as u64).unwrap() as usize];
    let options = CallOptions::default();
    let encoding = with_largest(4 << 10, || chain.encode_into(decoded, &mut encoded, &options));
    assert_eq!(encoding.unwrap_err().status(), Status::OutOfMemory);
    let size = with_largest(48 << 10, || chain.encode_into(decoded, &mut encoded, &options)).unwrap();
    assert_eq!(chain.decode_to_vec(&encoded[..size], &options).as_deref(), Ok(decoded));
}

#[test]
fn elements_that_bytes_leaves_as_they_are_are_not_copied_by_it() {
    let endian = if cfg!(target_endian = "big") { "big" } else { "little" };
    let delta = r#"{"name":"numcodecs.delta","configuration":{"dtype":"<u2"}}"#;
    let codecs = format!(r#"[{delta},{{"name":"bytes","configuration":{{"endian":"{endian}"}}}}]"#);
    let (chain, decoded, options) = (chain(&codecs, "[500,500]").unwrap(), decoded(), CallOptions::default());
    let (mut encoded, mut again) = (vec![0; chain.encoded_bound(SIZE as u64).unwrap() as usize], vec![0; SIZE]);
    let (size, peak) = peak_of(|| chain.encode_into(&decoded, &mut encoded, &options).unwrap());
    assert!(peak < SIZE, "{peak} bytes to encode");
    let (_, peak) = peak_of(|| chain.decode_into(&encoded[..size], &mut again, &options).unwrap());
    assert!(peak < SIZE, "{peak} bytes to decode");
    assert!(again == decoded);
}

/// Two workers, one after the other on the calling thread, whose allocations are counted.
#[derive(Debug)]
struct Inline;

impl Executor for Inline {
    fn max_workers(&self) -> NonZeroUsize {
        NonZeroUsize::new(2).unwrap()
    }

    fn run(&self, count: u32, job: &(dyn Fn() + Sync)) -> Result<(), Error> {
        (0..count).for_each(|_| job());
        Ok(())
    }
}

#[test]
fn a_shard_with_every_inner_chunk_damaged_takes_no_more_memory_than_one_with_none() {
    const COUNT: usize = 1 << 17;
    let index_codec = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
    let codecs = format!(
        r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":[4],"codecs":["bytes","crc32c"],
            "index_codecs":[{index_codec}]}}}}]"#
    );
    let input = format!(r#"{{"data_type":"uint8","shape":[{}],"fill_value":0}}"#, 4 * COUNT);
    let chain = Arc::new(Chain::new(codecs.as_bytes(), Some(input.as_bytes())).unwrap());
    let elements = vec![7; 4 * COUNT];
    let intact = chain.encode_to_vec(&elements, &CallOptions::default()).unwrap();
    let mut damaged = intact.clone();
    damaged[..8 * COUNT].iter_mut().step_by(8).for_each(|byte| *byte ^= 1);
    let options = CallOptions { executor: Some(Arc::new(Inline)), ..CallOptions::default() };
    let decode = |encoded: &[u8]| peak_of(|| chain.decode_into(encoded, &mut vec![0; 4 * COUNT], &options));
    let (result, _) = decode(&intact); // after which the chain has its scratch memory
    assert_eq!(result, Ok(4 * COUNT));
    let (_, least) = decode(&intact);
    let (result, peak) = decode(&damaged);
    assert_eq!(result.unwrap_err().code(), "checksum");
    assert!(peak <= least + 4096, "{peak} bytes instead of {least}");
}

/// Each of the 2,048 shards within the shard, all of which are the same bytes, has an index of 32 KiB.
#[test]
fn a_plan_keeps_no_index_of_the_shards_within_a_shard() {
    const SIDE: usize = 2048;
    let index_codec = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
    let shard = |shape: &str, inner: &str| {
        format!(
            r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{shape},"codecs":[{inner}],
                "index_codecs":[{index_codec}]}}}}"#
        )
    };
    let codecs = format!("[{}]", shard("[1,2048]", &shard("[1,1]", r#""bytes""#)));
    let input = br#"{"data_type":"uint8","shape":[2048,2048],"fill_value":0}"#;
    let chain = Arc::new(Chain::new(codecs.as_bytes(), Some(input)).unwrap());
    // The inner shard has one element, 7, at its beginning.
    let mut object = vec![7];
    object.extend([[0; 8], 1_u64.to_le_bytes()].concat());
    object.extend(vec![0xFF; 16 * (SIDE - 1)]);
    let inner_size = object.len() as u64;
    object.extend([[0; 8], inner_size.to_le_bytes()].concat().repeat(SIDE));
    // The targets of a plan live as long as it does.
    let elements: &'static mut [u8] = vec![0; SIDE].leak();
    let address = elements.as_ptr();
    let target = Target::contiguous(elements, 1, &[SIDE as u64, 1]).unwrap();
    let options = CallOptions { executor: Some(Arc::new(Inline)), ..CallOptions::default() };
    let size = Some(object.len() as u64);
    let mut plan = ReadPlan::new(&chain, options, vec![(vec![0, 0], target)], size, None).unwrap();
    let (stages, peak) = peak_of(|| {
        let mut stages = 0;
        while let ranges = plan.next_stage().unwrap().collect::<Vec<_>>()
            && !ranges.is_empty()
        {
            for (index, range) in ranges.iter().enumerate() {
                let ByteRange::At { offset, size } = *range else { panic!("{range:?} of an object of known size") };
                plan.supply(index, &object[offset as usize..(offset + size) as usize]).unwrap();
            }
            stages += 1;
        }
        stages
    });
    drop(plan);
    // SAFETY: the plan, which had the memory, is gone.
    let elements = unsafe { std::slice::from_raw_parts(address, SIDE) };
    assert_eq!(stages, 3);
    assert!(elements.iter().all(|element| *element == 7));
    assert!(peak < 8 << 20, "{peak} bytes");
}

/// After a reshape, too, only the blocks of a box are decoded.
#[test]
fn a_box_of_zfp_takes_no_memory_for_the_chunk() {
    let input = br#"{"data_type":"float32","shape":[64,64,64],"fill_value":0}"#;
    let options = CallOptions::default();
    for shape in ["[64,64,64]", "[64,1,64,64]", "[512,512]", "[262144]", "[32,128,64]"] {
        let codecs = format!(
            r#"[{{"name":"reshape","configuration":{{"shape":{shape}}}}},
                {{"name":"zfp","configuration":{{"mode":"fixed_rate","rate":8}}}}]"#
        );
        let chain = Chain::new(codecs.as_bytes(), Some(input)).unwrap();
        let decoded: Vec<u8> = (0..64 * 64 * 64).flat_map(|i| (i as f32 * 0.01).sin().to_ne_bytes()).collect();
        let encoded = chain.encode_to_vec(&decoded, &options).unwrap();
        let whole = chain.decode_to_vec(&encoded, &options).unwrap();
        let fresh = Chain::new(codecs.as_bytes(), Some(input)).unwrap();
        let mut elements = [0_u8; 3 * 5 * 7 * 4];
        let view = Target::contiguous(&mut elements, 4, &[3, 5, 7]).unwrap();
        let (result, peak) = peak_of(|| fresh.decode_view(&encoded, &[20, 30, 40], view, &options));
        result.unwrap();
        assert!(peak < decoded.len() / 8, "{shape}: {peak} bytes");
        for (row, found) in elements.chunks_exact(7 * 4).enumerate() {
            let first = 4 * (((20 + row / 5) * 64 + 30 + row % 5) * 64 + 40);
            assert!(*found == whole[first..first + found.len()], "{shape}: row {row}");
        }
    }
}

/// Elements pass from codec to codec in tiles; bytes->bytes codecs keep packed bytes, 3/16 of the chunk here.
#[test]
fn elementwise_codecs_take_no_array_between_them() {
    let cast = r#"{"name":"cast_value","configuration":{"data_type":"uint8","out_of_range":"wrap"}}"#;
    let packbits = r#"{"name":"packbits","configuration":{"last_bit":2}}"#;
    let pad = r#"{"name":"pad","configuration":{"location":"start","nbytes":9}}"#;
    let options = CallOptions::default();
    let elements: Vec<u8> = (0..SIZE / 2).flat_map(|i| (i as u16 % 7).to_ne_bytes()).collect();
    for (codecs, most) in
        [(format!("[{cast},{packbits}]"), SIZE / 16), (format!(r#"[{packbits},"zstd",{pad}]"#), SIZE / 4)]
    {
        let chain = chain(&codecs, "[500,500]").unwrap();
        let (mut encoded, mut again) = (vec![0; SIZE], vec![0; SIZE]);
        let (size, peak) = peak_of(|| chain.encode_into(&elements, &mut encoded, &options).unwrap());
        assert!(peak < most, "{codecs} encodes a chunk of {SIZE} with {peak} bytes");
        let (_, peak) = peak_of(|| chain.decode_into(&encoded[..size], &mut again, &options).unwrap());
        assert!(peak < most, "{codecs} decodes a chunk of {SIZE} with {peak} bytes");
        assert!(again == elements, "{codecs}");
    }
}

/// Inner chunks are read and written where the caller's elements lie, whatever elementwise codecs stand before them.
#[test]
fn codecs_before_a_shard_take_no_array_between_them() {
    let options = CallOptions::default();
    let shard = format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":[50,50],"codecs":[{BYTES},"gzip"],
        "index_codecs":[{BYTES}]}}}}"#
    );
    let cast = r#"{"name":"cast_value","configuration":{"data_type":"uint32"}}"#;
    let squeeze = r#""squeeze""#;
    for (before, after, shape) in [
        (TRANSPOSE.to_owned(), "", "[500,500]"),
        (format!("{squeeze},{TRANSPOSE}"), "", "[500,1,500]"),
        (cast.to_owned(), "", "[500,500]"),
        (format!("{TRANSPOSE},{cast}"), "", "[500,500]"),
        (format!("{cast},{TRANSPOSE},{cast}"), r#","crc32c""#, "[500,500]"),
        (format!("{squeeze},{cast}"), "", "[500,1,500]"),
    ] {
        let chain = chain(&format!("[{before},{shard}{after}]"), shape).unwrap();
        let decoded = decoded();
        let bound = chain.encoded_bound(SIZE as u64).unwrap() as usize;
        let (mut encoded, mut target) = (vec![0; bound], vec![0; SIZE]);
        let (size, peak) = peak_of(|| chain.encode_into(&decoded, &mut encoded, &options).unwrap());
        assert!(peak < SIZE / 3, "encode took {peak} bytes: {before}");
        let (_, peak) = peak_of(|| chain.decode_into(&encoded[..size], &mut target, &options).unwrap());
        assert_eq!(target, decoded);
        assert!(peak < SIZE / 3, "decode took {peak} bytes: {before}");
    }
}

/// What enters a codec that takes slabs of a chunk is made slab by slab, and goes to its place so.
#[test]
fn codecs_before_one_that_takes_slabs_take_no_array_between_them() {
    let options = CallOptions::default();
    let blosc = r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4}}"#;
    let zfp = r#"{"name":"zfp","configuration":{"mode":"reversible"}}"#;
    let cast = r#"{"name":"cast_value","configuration":{"data_type":"int32"}}"#;
    let scale = r#"{"name":"scale_offset","configuration":{"scale":2}}"#;
    for codecs in [format!("[{cast},{BYTES},{blosc}]"), format!("[{BYTES},{blosc}]"), format!("[{scale},{cast},{zfp}]")]
    {
        let chain = chain(&codecs, "[3000,1000]").unwrap();
        let decoded: Vec<u8> = (0..3_000_000_u32).flat_map(|i| ((i / 7 % 30_000) as u16).to_ne_bytes()).collect();
        let bound = chain.encoded_bound(decoded.len() as u64).unwrap() as usize;
        let (mut encoded, mut target) = (vec![0; bound], vec![0; decoded.len()]);
        let (size, peak) = peak_of(|| chain.encode_into(&decoded, &mut encoded, &options).unwrap());
        assert!(peak < decoded.len() / 2, "encode took {peak} bytes: {codecs}");
        let (_, peak) = peak_of(|| chain.decode_into(&encoded[..size], &mut target, &options).unwrap());
        assert_eq!(target, decoded);
        assert!(peak < decoded.len() / 2, "decode took {peak} bytes: {codecs}");
    }
}

#[test]
fn scratch_memory_that_cannot_be_had_is_a_status() {
    let chain = chain(&format!(r#"[{TRANSPOSE},{BYTES},"zstd"]"#), "[500,500]").unwrap();
    let options = CallOptions::default();
    let (input, mut output) = (decoded(), vec![0; 2 * SIZE]);
    let result = with_largest(SIZE / 2, || chain.encode_into(&input, &mut output, &options));
    assert_eq!(result.unwrap_err().status(), Status::OutOfMemory);
    let size = chain.encode_into(&input, &mut output, &options).unwrap();
    let mut again = vec![0; SIZE];
    assert_eq!(chain.decode_into(&output[..size], &mut again, &options), Ok(SIZE));
    assert_eq!(again, input);
}

#[test]
fn tables_of_compressors_that_cannot_be_had_are_a_status() {
    let (options, input) = (CallOptions::default(), vec![7; 8192]);
    let blosc = |cname| {
        format!(
            r#"{{"name":"blosc","configuration":{{"cname":"{cname}","clevel":5,"shuffle":"noshuffle","blocksize":0}}}}"#
        )
    };
    for codec in [blosc("lz4"), blosc("blosclz"), r#""numcodecs.lz4""#.to_owned()] {
        let chain = chain(&format!("[{BYTES},{codec}]"), "[64,64]").unwrap();
        let mut output = vec![0; 2 * input.len()];
        let result = with_largest(32 << 10, || chain.encode_into(&input, &mut output, &options));
        assert_eq!(result.unwrap_err().status(), Status::OutOfMemory, "{codec}");
        let size = chain.encode_into(&input, &mut output, &options).unwrap();
        // Decoding needs no table.
        let fresh = chain.with_shape(&[64, 64]).unwrap();
        let decoded = with_largest(32 << 10, || fresh.decode_to_vec(&output[..size], &options));
        assert_eq!(decoded.as_ref(), Ok(&input), "{codec}");
    }
}

#[test]
fn an_error_leaves_nothing_behind() {
    let options = CallOptions::default();
    for chain in chains() {
        let encoded = chain.encode_to_vec(&decoded(), &options).unwrap();
        let fail = || {
            let mut output = vec![0; SIZE];
            assert!(chain.encode_into(&output[1..], &mut [], &options).is_err());
            assert!(chain.encode_into(&output.clone(), &mut output[..3], &options).is_err());
            assert!(chain.decode_into(&encoded[..encoded.len() / 2], &mut output, &options).is_err());
            assert!(chain.decode_into(&encoded, &mut output[1..], &options).is_err());
            assert!(chain.decode_to_vec(b"", &options).is_err());
            assert!(chain.with_shape(&[u64::MAX, u64::MAX]).is_err());
            assert!(Chain::new(br#"["bytes",{"name":"zstd","configuration":{"level":99}}]"#, None).is_err());
            assert!(Chain::from_zarr_json(br#"{"zarr_format":3,"#).is_err());
        };
        fail(); // what is kept for later calls is kept now
        let before = LIVE.get();
        (0..20).for_each(|_| fail());
        assert_eq!(LIVE.get(), before, "{}", chain.codecs_json());
    }
}

/// Twice the size of the chunk, and twice the bound of intermediate results: `docs/limits.md`.
#[test]
fn a_chunk_that_claims_more_than_the_metadata_takes_no_more_than_the_metadata() {
    let zeros = vec![0; 64 << 20];
    let options = CallOptions::default();
    let limit = 1 << 20;
    for codec in ["gzip", "zstd"] {
        let bomb =
            Chain::new(format!("[{codec:?}]").as_bytes(), None).unwrap().encode_to_vec(&zeros, &options).unwrap();
        for head in [
            BYTES.to_owned(),
            format!("{TRANSPOSE},{BYTES}"),
            format!(r#"{BYTES},"crc32c""#),
            format!(r#"{BYTES},"gzip""#),
        ] {
            let chain = chain(&format!("[{head},{codec:?}]"), "[10,10]").unwrap();
            let (result, peak) = peak_of(|| chain.decode_to_vec(&bomb, &options));
            assert_eq!(result.unwrap_err().status(), Status::CorruptData);
            assert!(peak < limit, "{codec}: {peak} bytes for a chunk of 200");
        }
    }
}

#[test]
fn metadata_that_claims_much_takes_little() {
    let too_large = Err(Status::InvalidMetadata);
    for (shape, expected) in [
        ("[4611686018427387904]", too_large),
        ("[4611686018427387904,4]", too_large),
        ("[2147483648,2147483648,0]", Ok(())),
        ("[1099511627776]", Ok(())),
    ] {
        let (made, peak) = peak_of(|| chain(&format!(r#"[{BYTES},"zstd"]"#), shape));
        assert!(peak < 1 << 16, "{peak} bytes for the shape {shape}");
        assert_eq!(made.map(drop).map_err(|error| error.status()), expected, "{shape}");
    }
    // An element of half a gigabyte.
    let raw = br#"{"data_type":"r4294967288","shape":[1],"fill_value":[0]}"#;
    let (made, peak) = peak_of(|| Chain::new(br#"["bytes"]"#, Some(raw)));
    assert_eq!(made.unwrap_err().status(), Status::InvalidMetadata);
    assert!(peak < 1 << 16, "{peak} bytes for a fill value of one");
    let nbytes = r#"[{"name":"pad","configuration":{"location":"start","nbytes":4611686018427387904}}]"#;
    let padded = Chain::new(nbytes.as_bytes(), None).unwrap();
    let (result, peak) = peak_of(|| padded.decode_to_vec(b"few", &CallOptions::default()));
    assert_eq!(result.unwrap_err().status(), Status::CorruptData);
    let (result, encoding_peak) = peak_of(|| padded.encode_to_vec(b"few", &CallOptions::default()));
    assert_eq!(result.unwrap_err().status(), Status::OutOfMemory);
    assert!(peak.max(encoding_peak) < 1 << 16);
}

#[test]
fn a_struct_in_structs_takes_no_more_memory_than_one_alone() {
    let document = |depth: usize, is_v2: bool| {
        let fields = |field: &dyn Fn(usize) -> String| (0..3000).map(field).collect::<Vec<_>>().join(",");
        let (mut data_type, shape, rest) = if is_v2 {
            let fields = fields(&|i| format!(r#"["field{i}", "|u1"]"#));
            let rest = r#""zarr_format": 2, "chunks": [1], "fill_value": 0, "order": "C", "filters": null, "compressor": null, "dtype""#;
            (format!("[{fields}]"), "[1]", rest)
        } else {
            let fields = fields(&|i| format!(r#"{{"name": "field{i}", "data_type": "uint8"}}"#));
            (format!(r#"{{"name": "struct", "configuration": {{"fields": [{fields}]}}}}"#), "[1]", r#""data_type""#)
        };
        for _ in 0..depth {
            data_type = match is_v2 {
                true => format!(r#"[["in", {data_type}]]"#),
                false => format!(
                    r#"{{"name": "struct", "configuration": {{"fields": [{{"name": "in", "data_type": {data_type}}}]}}}}"#
                ),
            };
        }
        format!(r#"{{"shape": {shape}, {rest}: {data_type}}}"#)
    };
    for is_v2 in [false, true] {
        let [alone, inside] = [0, 10].map(|depth| {
            let document = document(depth, is_v2);
            let (made, peak) = peak_of(|| match is_v2 {
                true => Chain::from_zarr_json(document.as_bytes()),
                false => Chain::new(br#"["bytes"]"#, Some(document.as_bytes())),
            });
            assert!(made.is_ok(), "{made:?}");
            peak
        });
        assert!(inside < alone + alone / 2, "{inside} bytes, {alone} alone");
    }
}

#[test]
fn nested_json_is_refused_within_a_small_multiple_of_its_text() {
    for text in ["[", r#"[{"name":"#, r#"{"a":"#] {
        let nested = text.repeat(100_000);
        let (result, peak) = peak_of(|| Chain::new(nested.as_bytes(), None));
        assert_eq!(result.unwrap_err().status(), Status::InvalidMetadata);
        assert!(peak < 1 << 20, "{peak} bytes for {} bytes of JSON", nested.len());
    }
}

/// Panics on demand.
#[derive(Debug, Default)]
struct Panicking(AtomicBool);

impl Panicking {
    /// Unwinds without the message of a panic, which takes memory that it keeps.
    fn act(&self) -> Result<(), i32> {
        if self.0.load(Ordering::Relaxed) {
            resume_unwind(Box::new("injected"));
        }
        Ok(())
    }
}

impl PaddingHook for Panicking {
    fn checks(&self) -> bool {
        true
    }

    fn generates(&self) -> bool {
        true
    }

    fn generate(&self, _: CallData, _: &[u8], _: &mut [u8]) -> Result<(), i32> {
        self.act()
    }

    fn check(&self, _: CallData, _: &[u8], _: &[u8]) -> Result<(), i32> {
        self.act()
    }
}

/// A call of the C interface into memory of the caller: its status and the size.
fn call(run: Call, chain: *const zcodec_chain, input: &[u8], output: &mut [u8]) -> (zcodec_status, usize) {
    let (mut size, mut error) = (99, null_mut());
    // SAFETY: the chain is live, both slices are passed with their own lengths, and the error is freed once.
    unsafe {
        let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        let status = run(chain, from, input.len(), to, output.len(), &mut size, &mut error);
        assert!(error.is_null() || capi::zcodec_error_status(error) == status);
        capi::zcodec_error_free(error);
        (status, size)
    }
}

type Call = unsafe extern "C" fn(
    *const zcodec_chain,
    *const c_void,
    usize,
    *mut c_void,
    usize,
    *mut usize,
    *mut *mut capi::zcodec_error,
) -> zcodec_status;

/// Through the C interface, where the panic of the crate `bzip2` is not printed.
#[test]
fn streams_of_bzip2_that_cannot_be_had_are_a_status() {
    let codecs = br#"["numcodecs.bz2"]"#;
    let mut chain = null_mut();
    // SAFETY: the text is passed with its own length, and there is no input.
    let status =
        unsafe { capi::zcodec_chain_new(codecs.as_ptr().cast(), codecs.len(), null(), 0, &mut chain, null_mut()) };
    assert_eq!(status, zcodec_status::ZCODEC_STATUS_OK);
    let (input, mut encoded, mut again) = ([7; 8192], [0; 1000], [0; 8192]);
    let out_of_memory = (zcodec_status::ZCODEC_STATUS_OUT_OF_MEMORY, 0);
    let encode = |encoded: &mut [u8]| call(capi::zcodec_encode, chain, &input, encoded);
    assert_eq!(with_largest(32 << 10, || encode(&mut encoded)), out_of_memory);
    let (status, size) = encode(&mut encoded);
    assert_eq!(status, zcodec_status::ZCODEC_STATUS_OK);
    let mut decode = || call(capi::zcodec_decode, chain, &encoded[..size], &mut again);
    for largest in [32 << 10, 128 << 10] {
        assert_eq!(with_largest(largest, &mut decode), out_of_memory, "{largest}");
    }
    assert_eq!(decode(), (zcodec_status::ZCODEC_STATUS_OK, input.len()));
    assert_eq!(again, input);
    // SAFETY: the handle is live and not used again.
    unsafe { capi::zcodec_chain_free(chain) };
}

/// Between passes that hold buffers and contexts of compressors.
#[test]
fn a_panic_inside_is_a_status_leaves_nothing_behind_and_the_chain_goes_on() {
    let codecs = format!(r#"[{BYTES},"zstd",{{"name":"pad","configuration":{{"location":"end","nbytes":3}}}},"gzip"]"#);
    let input = r#"{"data_type":"uint16","shape":[500,500],"fill_value":0}"#;
    let mut chain = null_mut();
    let hook = Arc::new(Panicking::default());
    // SAFETY: the texts are passed with their own lengths; the handle is live, and nobody else has it yet.
    let chain = unsafe {
        let (codecs_text, input_text) = (codecs.as_ptr().cast(), input.as_ptr().cast());
        let error = null_mut();
        capi::zcodec_chain_new(codecs_text, codecs.len(), input_text, input.len(), &mut chain, error);
        (*chain).set_padding_hook(2, Some(hook.clone())).unwrap();
        chain
    };
    let decoded = decoded();
    let (mut encoded, mut again) = (vec![0; 2 * SIZE], vec![0; SIZE]);
    let mut live = [0; 20];
    for live in &mut live {
        hook.0.store(false, Ordering::Relaxed);
        let (status, size) = call(capi::zcodec_encode, chain, &decoded, &mut encoded);
        assert_eq!(status, zcodec_status::ZCODEC_STATUS_OK);
        let encoded = &mut encoded[..size];
        assert_eq!(call(capi::zcodec_decode, chain, encoded, &mut again), (zcodec_status::ZCODEC_STATUS_OK, SIZE));
        assert_eq!(again, decoded);
        *live = LIVE.get();
        hook.0.store(true, Ordering::Relaxed);
        let internal = (zcodec_status::ZCODEC_STATUS_INTERNAL, 0);
        assert_eq!(call(capi::zcodec_decode, chain, encoded, &mut again), internal);
        assert_eq!(call(capi::zcodec_encode, chain, &decoded, encoded), internal);
    }
    assert_eq!(live, [live[0]; 20]);
    // SAFETY: the handle is live and not used again.
    unsafe { capi::zcodec_chain_free(chain) };
}

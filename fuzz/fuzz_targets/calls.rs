//! Any metadata and any bytes through every function of the C interface: `8 bytes, codecs NUL input NUL encoded`, or a
//! document in place of codecs, and no input. All ways to decode give the same elements, all ways to encode the same
//! bytes; what the library and the host made is freed. The conformance cases are its corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;
use zcodec::capi::*;
use zcodec_fuzz::c::{
    Buffer, Called, Handle, Index, Placed, Plan, Registry, ShardWriter, call, pointer, range_of, status_name,
};
use zcodec_fuzz::{LEVELS, Texts, host};

/// The largest chunks: copies are divided between threads from this size on, decoding from half of it on.
const MAX_SIZE: usize = 1 << 20;

/// What chunks from this size on do costs time and finds nothing more.
const LARGE: usize = MAX_SIZE;

/// The most that bytes decode to.
const MAX_BYTES: usize = 1 << 18;

/// What the first bytes choose.
#[derive(Clone, Copy)]
struct Control([u8; 8]);

impl Control {
    fn has(self, bit: u8) -> bool {
        self.0[0] >> bit & 1 != 0
    }

    fn max_threads(self) -> u32 {
        if self.has(0) { 4 } else { 0 }
    }

    /// A box, and how its elements lie in memory.
    fn placed(self, which: usize, shape: &[u64], element_size: usize) -> Placed {
        let [from, to] = [self.0[2 + 2 * which], self.0[3 + 2 * which]].map(u64::from);
        let start: Vec<u64> = shape.iter().map(|size| size * from / 256).collect();
        let part: Vec<u64> =
            shape.iter().zip(&start).map(|(size, start)| ((size - start) * to).div_ceil(255)).collect();
        Placed::new(&start, &part, element_size, self.0[6].rotate_left(4 * which as u32))
    }

    fn whole(self, shape: &[u64], element_size: usize) -> Placed {
        Placed::new(&vec![0; shape.len()], shape, element_size, 0)
    }
}

/// A chain, what it decodes to, and how to call it.
struct Subject {
    chain: Handle,
    control: Control,
    executor: zcodec_executor,
    shape: Vec<u64>,
    element_size: usize,
    /// Callbacks or codecs of the host may fail.
    is_free: bool,
    /// As `ChainSpec::is_deterministic`.
    is_deterministic: bool,
}

impl Subject {
    fn chain(&self) -> *const zcodec_chain {
        self.chain.as_ptr()
    }

    fn options(&self) -> zcodec_call_options {
        zcodec_call_options {
            struct_size: size_of::<zcodec_call_options>(),
            call_data: if self.control.has(1) { (&raw const *self).cast_mut().cast() } else { null_mut() },
            max_threads: self.control.max_threads(),
            executor: if self.control.has(2) { &self.executor } else { null() },
            flags: u64::from(self.control.has(3)) * ZCODEC_CALL_STORE_EMPTY,
        }
    }

    fn decoded_size(&self) -> usize {
        self.shape.iter().product::<u64>() as usize * self.element_size
    }

    /// Asserts that a status is one that data and the host can cause.
    fn allow(&self, status: zcodec_status) {
        use zcodec_status::*;
        let can_be = [
            ZCODEC_STATUS_CORRUPT_DATA,
            ZCODEC_STATUS_OUT_OF_RANGE,
            ZCODEC_STATUS_BUFFER_TOO_SMALL,
            ZCODEC_STATUS_UNSUPPORTED,
            ZCODEC_STATUS_CALLBACK_FAILED,
        ];
        assert!(can_be.contains(&status), "{}", status_name(status));
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((control, rest)) = data.split_first_chunk() else { return };
    let control = Control(*control);
    zcodec::codec::set_limit(LEVELS[usize::from(control.0[1]) % LEVELS.len()]);
    {
        let registry = host::registry();
        let texts = Texts::split(rest);
        let Ok(chain) = make(control, &texts, &registry) else { return };
        drop(registry);
        use_chain(chain, control, texts);
    }
    assert_eq!(host::ALIVE.load(Ordering::Relaxed), 0, "something of the host is not freed, or freed twice");
});

/// The chain of the texts, with the codecs of the host, or without options.
fn make(control: Control, texts: &Texts<'_>, registry: &Registry) -> Called<Handle> {
    let options = zcodec_chain_options {
        struct_size: size_of::<zcodec_chain_options>(),
        registry: registry.as_ptr(),
        max_decoded_size: MAX_SIZE as u64,
    };
    let (codecs, size) = (texts.codecs.as_ptr().cast(), texts.codecs.len());
    if texts.codecs.trim_ascii_start().starts_with(b"{") {
        if control.has(4) {
            // SAFETY: here and below, texts with their sizes.
            drop(Handle::of(|chain, error| unsafe { zcodec_chain_from_zarr_json(codecs, size, chain, error) }));
        }
        let with = zcodec_chain_from_zarr_json_with;
        // SAFETY: as above.
        return Handle::of(|chain, error| unsafe { with(&options, codecs, size, chain, error) });
    }
    let input = texts.input.unwrap_or_default();
    let (input, input_size) = (pointer(input).cast(), input.len());
    if control.has(4) {
        // SAFETY: as above.
        drop(Handle::of(|chain, error| unsafe { zcodec_chain_new(codecs, size, input, input_size, chain, error) }));
    }
    // SAFETY: as above.
    Handle::of(|chain, error| unsafe { zcodec_chain_new_with(&options, codecs, size, input, input_size, chain, error) })
}

fn use_chain(chain: Handle, control: Control, texts: Texts<'_>) {
    let has_callbacks = control.has(5) && set_paddings(&chain);
    let mut subject = Subject {
        is_free: has_callbacks || control.has(6) || texts.codecs.windows(5).any(|part| part == b"host."),
        is_deterministic: !texts.codecs.windows(6).any(|part| part == b"pcodec"),
        executor: host::executor(control.has(6)),
        chain,
        control,
        shape: Vec::new(),
        element_size: 0,
    };
    let Some(bound) = ask(&mut subject) else { return };
    let given = texts.rest;
    let decoded = decode(&subject, given);
    let is_array = subject.element_size > 0;
    if is_array {
        decode_boxes(&subject, given, decoded.as_deref());
    }
    let elements = decoded.unwrap_or_else(|| made_up(&subject, texts.rest));
    let Some(encoded) = encode(&subject, &elements, bound) else { return };
    // What was made up may differ in bits that no element has.
    if let (true, Some(decoded)) = (is_array, decode(&subject, &encoded)) {
        decode_boxes(&subject, &encoded, Some(&decoded));
        encode_parts(&subject, &decoded, bound);
        if decoded.len() < LARGE {
            write_shard(&subject, &decoded);
        }
    }
}

/// Elements for a chunk that does not decode.
fn made_up(subject: &Subject, bytes: &[u8]) -> Vec<u8> {
    let size = if subject.element_size > 0 { subject.decoded_size() } else { bytes.len().min(MAX_BYTES) };
    let seed = subject.control.0[7];
    (0..size).map(|at| ((at / 7) as u8 & seed) ^ bytes.get(at).copied().unwrap_or_default()).collect()
}

/// Callbacks for every padding that can be reached.
fn set_paddings(chain: &Handle) -> bool {
    let (generate, check, free) = (Some(host::generate as _), Some(host::check as _), Some(host::free_padding as _));
    let mut has_any = false;
    for index in 0..4 {
        let chain = chain.as_ptr();
        let set = zcodec_chain_set_padding;
        // SAFETY: static functions; nobody else uses the chain.
        let set = call(|error| unsafe { set(chain, index, generate, check, null_mut(), free, error) });
        host::ALIVE.fetch_add(set.is_ok().into(), Ordering::Relaxed);
        for path in [c"/0/configuration/codecs/1", c"/1/configuration/codecs/1", c"/2"] {
            let set = zcodec_chain_set_padding_at;
            // SAFETY: as above; the path ends with a NUL.
            let set = call(|error| unsafe { set(chain, path.as_ptr(), generate, check, null_mut(), free, error) });
            host::ALIVE.fetch_add(set.is_ok().into(), Ordering::Relaxed);
            has_any |= set.is_ok();
        }
        has_any |= set.is_ok();
    }
    has_any
}

/// Asks for everything; the bound of what encodes to how much, and none if the chain is not small.
fn ask(subject: &mut Subject) -> Option<usize> {
    let chain = subject.chain.as_ptr().cast_const();
    // SAFETY: in all of this, a live chain and places for the results.
    unsafe {
        let kind = zcodec_chain_kind(chain) as i32;
        assert!(kind > 0 && (zcodec_chain_codec_count(chain) > 0 || kind == 1));
        for ask in
            [zcodec_chain_input_json, zcodec_chain_output_json, zcodec_chain_codecs_json, zcodec_chain_warnings_json]
        {
            let json = Buffer::of(|json, error| ask(chain, json, error)).expect("it is described");
            serde_json::from_slice::<serde_json::Value>(json.bytes()).expect("JSON");
        }
        let (mut shape, mut ndim, mut size) = ([0; 64], 0, 0);
        if zcodec_chain_shape(chain, shape.as_mut_ptr(), shape.len(), &mut ndim) == zcodec_status::ZCODEC_STATUS_OK {
            subject.shape = shape[..ndim].to_vec();
            assert_eq!(zcodec_chain_element_size(chain, &mut subject.element_size), zcodec_status::ZCODEC_STATUS_OK);
            let mut granularity = vec![0; ndim];
            call(|error| zcodec_chain_granularity(chain, granularity.as_mut_ptr(), ndim, error)).expect("an array");
            let reshaped: Vec<u64> = subject.shape.iter().map(|size| size / 2 + 1).collect();
            drop(Handle::of(|other, error| zcodec_chain_with_shape(chain, reshaped.as_ptr(), ndim, other, error)));
            if zcodec_chain_decoded_size(chain, &mut size) != zcodec_status::ZCODEC_STATUS_OK {
                return None;
            }
            assert_eq!(size, subject.decoded_size());
        } else {
            assert_eq!(subject.element_size, 0);
            size = 1 << 12;
        }
        let mut bound = 0;
        match zcodec_chain_encoded_bound(chain, size, &mut bound) {
            zcodec_status::ZCODEC_STATUS_OK => (bound <= 4 * MAX_SIZE).then_some(bound),
            zcodec_status::ZCODEC_STATUS_UNKNOWN_SIZE => Some(2 * size + 1024),
            _ => None,
        }
    }
}

/// Decodes in every way to all of it.
fn decode(subject: &Subject, encoded: &[u8]) -> Option<Vec<u8>> {
    let (chain, options) = (subject.chain(), subject.options());
    let capacity = if subject.element_size > 0 { subject.decoded_size() } else { MAX_BYTES };
    let mut decoded = vec![0xA5; capacity];
    let (from, size, to) = (pointer(encoded), encoded.len(), decoded.as_mut_ptr().cast::<c_void>());
    let mut decoded_size = 0;
    // SAFETY: in all of this, both sides with their sizes.
    let result = call(|error| unsafe {
        zcodec_decode_with(chain, &options, from, size, to, capacity, &mut decoded_size, error)
    });
    if let Err(status) = result {
        subject.allow(status);
    } else {
        decoded.truncate(decoded_size);
    }
    let buffer =
        Buffer::of(|buffer, error| unsafe { zcodec_decode_to_buffer_with(chain, &options, from, size, buffer, error) });
    let is_too_small = result == Err(zcodec_status::ZCODEC_STATUS_BUFFER_TOO_SMALL);
    let are_same = match &buffer {
        Ok(buffer) => result.is_ok() && buffer.bytes() == decoded,
        Err(status) => result == Err(*status),
    };
    // An executor that fails may be needed for only one of them.
    assert!(are_same || is_too_small || subject.is_free, "the ways to decode differ");
    // Without options, callbacks get nothing, and nobody fails.
    if !subject.is_free {
        let buffer = Buffer::of(|buffer, error| unsafe { zcodec_decode_to_buffer(chain, from, size, buffer, error) });
        assert!(is_too_small || buffer.as_ref().err() == result.as_ref().err(), "options change the result");
        let mut again = vec![0x5A; capacity];
        let to = again.as_mut_ptr().cast();
        let status = call(|error| unsafe { zcodec_decode(chain, from, size, to, capacity, &mut decoded_size, error) });
        assert_eq!(status, result);
        assert!(status.is_err() || again[..decoded_size] == decoded[..], "options change the result");
        if result.is_ok() && !decoded.is_empty() {
            let short = decoded.len() - 1;
            let status = call(|error| unsafe { zcodec_decode(chain, from, size, to, short, &mut decoded_size, error) });
            let expected = (Err(zcodec_status::ZCODEC_STATUS_BUFFER_TOO_SMALL), decoded.len());
            assert_eq!((status, decoded_size), expected, "a byte too small");
        }
    }
    result.is_ok().then_some(decoded)
}

/// Boxes of a chunk: as views, by plans, as tasks. If the whole decodes, so do they, to the same elements.
fn decode_boxes(subject: &Subject, encoded: &[u8], decoded: Option<&[u8]>) {
    let (chain, options, shape) = (subject.chain(), subject.options(), &subject.shape);
    let mut boxes = [0, 1].map(|which| subject.control.placed(which, shape, subject.element_size));
    for placed in &mut boxes {
        let (part, view) = (placed.part(), placed.view());
        // SAFETY: both sides with their sizes.
        let result = call(|error| unsafe {
            zcodec_decode_view(chain, &options, pointer(encoded), encoded.len(), &part, &view, error)
        });
        compare(subject, placed, result, decoded, "a view");
    }
    if subject.decoded_size() >= LARGE {
        return;
    }
    let index = index_of(subject, encoded);
    for form in 0..if subject.decoded_size() < LARGE / 4 { 4_u8 } else { 2 } {
        let known = if form & 2 == 0 { encoded.len() as u64 } else { ZCODEC_SIZE_UNKNOWN };
        let index = index.as_ref().filter(|_| form == 3).map_or(null(), |index| index.as_ptr().cast_const());
        let mut boxes = [0, 1].map(|which| subject.control.placed(which, shape, subject.element_size));
        let result = read(subject, encoded, &mut boxes, known, index, form == 0);
        // A plan may need bytes that the chunk has not, if it does not know its size.
        let decoded = decoded.filter(|_| result.is_ok() || form & 2 == 0);
        boxes.iter().for_each(|placed| compare(subject, placed, result, decoded, "a plan"));
    }
    decode_tasks(subject, encoded, decoded);
}

/// A box is what the whole has there.
fn compare(subject: &Subject, placed: &Placed, result: Called<()>, decoded: Option<&[u8]>, what: &str) {
    match (result, decoded) {
        (Ok(()), Some(decoded)) => placed.check(&subject.shape, decoded, what),
        (Ok(()), None) => {}
        (Err(status), decoded) => {
            subject.allow(status);
            assert!(subject.is_free || decoded.is_none(), "the whole decodes, but {what} is {}", status_name(status));
        }
    }
}

/// The index of a shard, if the chain makes one.
fn index_of(subject: &Subject, object: &[u8]) -> Option<Index> {
    let chain = subject.chain();
    let mut range = zcodec_range { offset: 0, size: 0 };
    // SAFETY: in all of this, a live chain and places for the results.
    unsafe {
        let inner = Handle::of(|inner, error| zcodec_chain_inner(chain, inner, error));
        call(|error| zcodec_chain_index_range(chain, &mut range, error)).ok()?;
        assert!(inner.is_ok(), "an index without inner chunks");
        let bytes = range_of(object, range)?;
        let size = object.len() as u64;
        let index =
            Index::of(|index, error| zcodec_index_decode(chain, pointer(bytes), bytes.len(), size, index, error));
        let index = index.ok()?;
        assert!(zcodec_index_memory(index.as_ptr()) > 0);
        zcodec_index_free(zcodec_index_ref(index.as_ptr()));
        let (mut entry, mut present) = (zcodec_range { offset: 0, size: 0 }, 0);
        let cell = vec![0_u64; subject.shape.len()];
        let found = call(|error| {
            zcodec_index_entry(index.as_ptr(), cell.as_ptr(), cell.len(), &mut entry, &mut present, error)
        });
        assert!(found.is_err() || present == 0 || range_of(object, entry).is_some(), "an entry outside the object");
        Some(index)
    }
}

/// Reads boxes by a plan: one range at a time, backwards, or all together.
fn read(
    subject: &Subject,
    object: &[u8],
    boxes: &mut [Placed],
    known: u64,
    index: *const zcodec_index,
    together: bool,
) -> Called<()> {
    let parts: Vec<zcodec_box> = boxes.iter().map(Placed::part).collect();
    let views: Vec<zcodec_view> = boxes.iter_mut().map(Placed::view).collect();
    let (chain, options) = (subject.chain(), subject.options());
    // SAFETY: in all of this, the memory of the views, the options and the ranges live longer than the plan.
    unsafe {
        let plan = Plan::of(|plan, error| {
            let (parts, views) = (parts.as_ptr(), views.as_ptr());
            zcodec_plan_new(chain, &options, parts, views, boxes.len(), known, index, plan, error)
        })?;
        loop {
            let (mut ranges, mut count) = (null(), 0);
            call(|error| zcodec_plan_next(plan.as_ptr(), &mut ranges, &mut count, error))?;
            if count == 0 {
                break;
            }
            let ranges = std::slice::from_raw_parts(ranges, count).to_vec();
            let found: Option<Vec<&[u8]>> = ranges.iter().map(|range| range_of(object, *range)).collect();
            let found = found.ok_or(zcodec_status::ZCODEC_STATUS_CORRUPT_DATA)?;
            if together {
                let (bytes, sizes): (Vec<_>, Vec<_>) = found.iter().map(|bytes| (pointer(bytes), bytes.len())).unzip();
                call(|error| zcodec_plan_supply_all(plan.as_ptr(), bytes.as_ptr(), sizes.as_ptr(), error))?;
            } else {
                let supply = |i, bytes: &[u8]| {
                    call(|error| zcodec_plan_supply(plan.as_ptr(), i, pointer(bytes), bytes.len(), error))
                };
                if subject.control.has(7) {
                    let (mut ranges, mut count) = (null(), 0);
                    let early = call(|error| zcodec_plan_next(plan.as_ptr(), &mut ranges, &mut count, error));
                    assert_eq!(
                        [early, supply(found.len(), &[])],
                        [Err(zcodec_status::ZCODEC_STATUS_INVALID_ARGUMENT); 2]
                    );
                }
                for (i, bytes) in found.iter().enumerate().rev() {
                    supply(i, bytes)?;
                    let again = subject.control.has(7).then(|| supply(i, bytes));
                    assert!(again.is_none_or(|again| again == Err(zcodec_status::ZCODEC_STATUS_INVALID_ARGUMENT)));
                }
            }
        }
        let mut index = null_mut();
        let given = call(|error| zcodec_plan_index(plan.as_ptr(), &mut index, error));
        let is_empty = boxes.iter().all(|placed| placed.memory.is_empty());
        assert!(given.is_ok() || (is_empty && given == Err(zcodec_status::ZCODEC_STATUS_INVALID_ARGUMENT)));
        zcodec_index_free(index);
    }
    Ok(())
}

fn task(subject: &Subject, part: &zcodec_box, view: &zcodec_view) -> zcodec_task {
    zcodec_task {
        struct_size: size_of::<zcodec_task>(),
        chain: subject.chain(),
        call_data: subject.options().call_data,
        encoded: null(),
        encoded_size: 0,
        encoded_to: null_mut(),
        encoded_capacity: 0,
        r#box: part,
        view,
        flags: 0,
        status: 0,
        error: null_mut(),
    }
}

/// The status of each task; their errors are freed.
fn results(tasks: &[zcodec_task], first: zcodec_status) -> Vec<Called<()>> {
    let results: Vec<Called<()>> = (tasks.iter())
        .map(|task| {
            call(|error| {
                // SAFETY: this is the place of an error, which the task gives away.
                unsafe { *error = task.error };
                match task.error.is_null() {
                    true => zcodec_status::ZCODEC_STATUS_OK,
                    // SAFETY: a live error.
                    false => unsafe { zcodec_error_status(task.error) },
                }
            })
        })
        .collect();
    let failed = results.iter().find_map(|result| result.err());
    assert_eq!(failed.unwrap_or(zcodec_status::ZCODEC_STATUS_OK), first, "the first failure");
    results
}

/// The whole, two boxes, and a chunk that is missing, as tasks.
fn decode_tasks(subject: &Subject, encoded: &[u8], decoded: Option<&[u8]>) {
    let (options, shape, control) = (subject.options(), &subject.shape, subject.control);
    let mut boxes = [0, 1].map(|which| control.placed(which, shape, subject.element_size)).to_vec();
    boxes.extend([control.whole(shape, subject.element_size), control.whole(shape, subject.element_size)]);
    let parts: Vec<zcodec_box> = boxes.iter().map(Placed::part).collect();
    let views: Vec<zcodec_view> = boxes.iter_mut().map(Placed::view).collect();
    let mut tasks: Vec<zcodec_task> = parts.iter().zip(&views).map(|(part, view)| task(subject, part, view)).collect();
    for task in &mut tasks {
        (task.encoded, task.encoded_size) = (pointer(encoded), encoded.len());
    }
    tasks[2].r#box = null();
    tasks[3].flags = ZCODEC_TASK_MISSING;
    // SAFETY: tasks as the header asks for.
    let first = unsafe { zcodec_decode_tasks(tasks.as_mut_ptr(), tasks.len(), &options) };
    for (which, result) in results(&tasks, first).into_iter().enumerate() {
        match result {
            _ if which < 3 => compare(subject, &boxes[which], result, decoded, "a task"),
            Ok(()) => check_fill(subject, &mut boxes[which]),
            Err(status) => {
                assert!(subject.is_free || status == zcodec_status::ZCODEC_STATUS_UNSUPPORTED, "a missing chunk");
            }
        }
    }
}

/// What a missing chunk is filled with is the fill value.
fn check_fill(subject: &Subject, missing: &mut Placed) {
    let (chain, shape) = (subject.chain(), subject.shape.as_ptr());
    let (view, mut is_fill) = (missing.view(), 0);
    // SAFETY: in all of this, a view with its memory.
    unsafe {
        call(|error| zcodec_is_fill_view(chain, shape, &view, &mut is_fill, error)).expect("a fill value");
        assert_eq!(is_fill, 1);
        let before = missing.memory.clone();
        call(|error| zcodec_fill_view(chain, shape, &view, error)).expect("a fill value");
        assert!(missing.memory == before, "two ways to fill");
    }
}

/// Encodes in every way all of it.
fn encode(subject: &Subject, elements: &[u8], bound: usize) -> Option<Vec<u8>> {
    let (chain, options) = (subject.chain(), subject.options());
    let (from, size) = (pointer(elements), elements.len());
    let buffer = Buffer::of(|buffer, error| unsafe {
        // SAFETY: in all of this, both sides with their sizes.
        zcodec_encode_to_buffer_with(chain, &options, from, size, buffer, error)
    });
    let into = |capacity: usize, options: *const zcodec_call_options| {
        let (mut encoded, mut encoded_size) = (vec![0xA5_u8; capacity], 0);
        let to = encoded.as_mut_ptr().cast::<c_void>();
        let result = call(|error| unsafe {
            match options.is_null() {
                true => zcodec_encode(chain, from, size, to, capacity, &mut encoded_size, error),
                false => zcodec_encode_with(chain, options, from, size, to, capacity, &mut encoded_size, error),
            }
        });
        result.map(|()| encoded[..encoded_size].to_vec()).map_err(|status| (status, encoded_size))
    };
    let capacity = if subject.element_size > 0 { bound } else { 2 * size + bound };
    match (into(capacity, &options), &buffer) {
        (Ok(encoded), Ok(buffer)) => {
            assert!(encoded == buffer.bytes() || !subject.is_deterministic, "the ways to encode differ");
        }
        (first, second) => {
            let first = first.map_err(|(status, _)| status).map(|_| ());
            let second = second.as_ref().map(|_| ()).map_err(|status| *status);
            assert!(first == second || subject.is_free, "{first:?}, {second:?}: the ways to encode differ");
        }
    }
    let buffer = buffer.map_err(|status| subject.allow(status)).ok()?;
    if !subject.is_free && subject.is_deterministic {
        if let Err((status, needed)) = into(buffer.bytes().len() / 2, &options) {
            assert_eq!(status, zcodec_status::ZCODEC_STATUS_BUFFER_TOO_SMALL);
            assert!(into(needed, &options).is_ok_and(|encoded| encoded == buffer.bytes()), "what was named is enough");
        }
        let plain = Buffer::of(|buffer, error| unsafe { zcodec_encode_to_buffer(chain, from, size, buffer, error) });
        let is_same = |bytes: &[u8]| subject.control.has(3) || bytes == buffer.bytes();
        assert!(plain.is_ok_and(|plain| is_same(plain.bytes())), "options change the result");
        assert!(into(capacity, null()).is_ok_and(|encoded| is_same(&encoded)), "options change the result");
    }
    Some(buffer.bytes().to_vec())
}

/// The whole from a view in any order, and a part, by calls and as tasks: the same bytes.
fn encode_parts(subject: &Subject, decoded: &[u8], capacity: usize) {
    let (chain, options, shape) = (subject.chain(), subject.options(), &subject.shape);
    let form = subject.control.0[6];
    let start = vec![0; shape.len()];
    let mut boxes = [
        Placed::new(&start, shape, subject.element_size, form),
        subject.control.placed(0, shape, subject.element_size),
    ];
    boxes.iter_mut().for_each(|placed| placed.fill(shape, decoded));
    let parts: Vec<zcodec_box> = boxes.iter().map(Placed::part).collect();
    let views: Vec<zcodec_view> = boxes.iter_mut().map(Placed::view).collect();
    let mut rooms = vec![vec![0_u8; capacity]; 2];
    let mut tasks: Vec<zcodec_task> = parts.iter().zip(&views).map(|(part, view)| task(subject, part, view)).collect();
    for (task, room) in tasks.iter_mut().zip(&mut rooms) {
        (task.encoded_to, task.encoded_capacity) = (room.as_mut_ptr().cast(), capacity);
    }
    // SAFETY: in all of this, tasks, boxes and views as the header asks for.
    let first = unsafe { zcodec_encode_tasks(tasks.as_mut_ptr(), tasks.len(), &options) };
    for (which, result) in results(&tasks, first).into_iter().enumerate() {
        let (mut encoded, mut size) = (vec![0_u8; capacity], 0);
        let direct = call(|error| unsafe {
            let to = encoded.as_mut_ptr().cast();
            zcodec_encode_view(chain, &options, &parts[which], &views[which], to, capacity, &mut size, error)
        });
        assert!(direct == result || subject.is_free, "{direct:?}, {result:?}: a task differs from a call");
        let is_same = size == tasks[which].encoded_size && encoded[..size] == rooms[which][..size];
        assert!(
            direct.is_err() || result.is_err() || is_same || !subject.is_deterministic,
            "a task encodes to other bytes"
        );
    }
}

/// Makes a shard of a box, changes it with another one, in both layouts, and reads what came of it.
fn write_shard(subject: &Subject, decoded: &[u8]) {
    let (chain, shape, control) = (subject.chain(), &subject.shape, subject.control);
    let mut array = control.whole(shape, subject.element_size);
    let view = array.view();
    // SAFETY: a view with its memory.
    let has_fill = call(|error| unsafe { zcodec_fill_view(chain, shape.as_ptr(), &view, error) }).is_ok();
    let mut object: Option<Vec<u8>> = None;
    for (round, layout) in [0, 1, 0].into_iter().enumerate() {
        let mut placed = match (round, has_fill) {
            (0 | 2, true) => control.placed(round / 2, shape, subject.element_size),
            (1, _) => control.placed(1, shape, subject.element_size),
            _ => control.whole(shape, subject.element_size),
        };
        placed.fill(shape, decoded);
        let Ok(new) = change(subject, object.as_deref(), &mut placed, layout) else { return };
        placed.copy_to(shape, &mut array.memory);
        if let Some(found) = decode(subject, &new) {
            // Elements of lossy chains come back as others.
            assert_eq!(found.len(), array.memory.len());
            if found.len() < LARGE / 4 {
                decode_boxes(subject, &new, Some(&found));
            }
        }
        object = Some(new);
    }
}

/// The object after a writer put one box into it.
fn change(subject: &Subject, old: Option<&[u8]>, placed: &mut Placed, layout: i32) -> Called<Vec<u8>> {
    let (chain, options) = (subject.chain(), subject.options());
    let index = old.and_then(|object| index_of(subject, object));
    let index = index.as_ref().map_or(null(), |index| index.as_ptr().cast_const());
    let old = old.unwrap_or_default();
    let (part, view) = (placed.part(), placed.view());
    // SAFETY: in all of this, handles and places as the header asks for; pieces live until the writer is freed.
    unsafe {
        let writer = ShardWriter::of(|writer, error| {
            zcodec_writer_new(chain, &options, index, old.len() as u64, writer, error)
        })?;
        let writer = writer.as_ptr();
        call(|error| zcodec_writer_put(writer, &part, &view, error))?;
        let (mut pieces, mut count, mut size) = (null(), 0, 0);
        if subject.control.has(7) {
            let early = call(|error| zcodec_writer_finish(writer, 5, &mut pieces, &mut count, &mut size, error));
            assert_eq!(early, Err(zcodec_status::ZCODEC_STATUS_INVALID_ARGUMENT), "a layout that is none");
        }
        loop {
            let (mut ranges, mut count) = (null(), 0);
            call(|error| zcodec_writer_next(writer, &mut ranges, &mut count, error))?;
            if count == 0 {
                break;
            }
            for (i, range) in std::slice::from_raw_parts(ranges, count).to_vec().into_iter().enumerate() {
                let bytes = range_of(old, range).expect("ranges lie within the old object");
                call(|error| zcodec_writer_supply(writer, i, pointer(bytes), bytes.len(), error))?;
            }
        }
        call(|error| zcodec_writer_finish(writer, layout, &mut pieces, &mut count, &mut size, error))?;
        let again = call(|error| zcodec_writer_put(writer, &part, &view, error));
        assert_eq!(again, Err(zcodec_status::ZCODEC_STATUS_INVALID_ARGUMENT), "a put after the end");
        let mut object = if layout == 0 || index.is_null() { Vec::new() } else { old.to_vec() };
        object.resize(size as usize, 0xEE);
        let pieces: &[zcodec_piece] = if count == 0 { &[] } else { std::slice::from_raw_parts(pieces, count) };
        for piece in pieces {
            let bytes = match piece.data.is_null() {
                true => &old[piece.source_offset as usize..][..piece.size as usize],
                false => std::slice::from_raw_parts(piece.data.cast::<u8>(), piece.size as usize),
            };
            object[piece.offset as usize..][..bytes.len()].copy_from_slice(bytes);
        }
        Ok(object)
    }
}

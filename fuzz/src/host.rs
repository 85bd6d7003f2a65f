//! A host: codecs, callbacks for paddings and threads of its own, each of which may do what it must not.

use serde_json::{Value, json};
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, Ordering};
use zcodec::capi::{
    ZCODEC_CODEC_TOO_SMALL, zcodec_codec, zcodec_executor, zcodec_job_fn, zcodec_kind, zcodec_registry_add,
    zcodec_registry_new, zcodec_sink, zcodec_sink_write,
};

use crate::c::{Registry, call};

/// States that are alive, and user data: both come to 0 once everything is freed.
pub static ALIVE: AtomicI64 = AtomicI64::new(0);

/// The names of the codecs, and their kinds.
const CODECS: [(&std::ffi::CStr, zcodec_kind); 3] = [
    (c"host.array", zcodec_kind::ZCODEC_KIND_ARRAY_TO_ARRAY),
    (c"host.bytes", zcodec_kind::ZCODEC_KIND_ARRAY_TO_BYTES),
    (c"host.sum", zcodec_kind::ZCODEC_KIND_BYTES_TO_BYTES),
];

/// What a codec does, from its configuration `{"mode"}`: 0 inverts the bytes, and adds one if it makes bytes. The
/// others are faults, or unusual.
struct State {
    mode: u64,
    adds: bool,
}

/// The built-in codecs and those of the host.
pub fn registry() -> Registry {
    let (version, supported) = crate::c::library();
    assert!(!version.is_empty() && !supported.is_empty());
    // SAFETY: the pointers are of this call.
    let registry = Registry::of(|registry, error| unsafe { zcodec_registry_new(registry, error) }).expect("memory");
    for (name, kind) in &CODECS {
        let codec = zcodec_codec {
            struct_size: size_of::<zcodec_codec>(),
            name: name.as_ptr(),
            kind: *kind as i32,
            reserved: 0,
            user_data: kind as *const zcodec_kind as *mut c_void,
            free_user_data: Some(free_user_data),
            bind: Some(bind),
            free_state: Some(free_state),
            encoded_bound: Some(encoded_bound),
            encode: Some(encode),
            decode: Some(decode),
        };
        // SAFETY: the functions and their data are static.
        call(|error| unsafe { zcodec_registry_add(registry.as_ptr(), &codec, error) }).expect("a new name");
        ALIVE.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above; it is refused, so that nothing is freed.
        call(|error| unsafe { zcodec_registry_add(registry.as_ptr(), &codec, error) }).expect_err("a name twice");
    }
    registry
}

fn write(sink: *mut zcodec_sink, text: &str) {
    // SAFETY: the sink of this callback.
    unsafe { zcodec_sink_write(sink, text.as_ptr().cast(), text.len()) };
}

unsafe extern "C" fn free_user_data(_user_data: *mut c_void) {
    ALIVE.fetch_sub(1, Ordering::Relaxed);
}

unsafe extern "C" fn free_state(state: *mut c_void) {
    ALIVE.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: `bind` made it, and it is freed once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}

unsafe extern "C" fn bind(
    user_data: *mut c_void,
    configuration: *const c_char,
    configuration_size: usize,
    input: *const c_char,
    input_size: usize,
    output: *mut zcodec_sink,
    message: *mut zcodec_sink,
    state: *mut *mut c_void,
) -> i32 {
    // SAFETY: texts with their sizes, says the header.
    let (configuration, input) = unsafe {
        let text = |text: *const c_char, size| std::slice::from_raw_parts(text.cast::<u8>(), size);
        (text(configuration, configuration_size), text(input, input_size))
    };
    let configuration: Value = serde_json::from_slice(configuration).expect("an object");
    let _: Value = serde_json::from_slice(input).expect("JSON");
    let mode = configuration["mode"].as_u64().unwrap_or_default();
    // SAFETY: `registry` set it.
    let kind = unsafe { *user_data.cast::<zcodec_kind>() };
    let adds = kind != zcodec_kind::ZCODEC_KIND_ARRAY_TO_ARRAY;
    match mode {
        1 => {
            write(message, "the host does not want to");
            return 3;
        }
        2 => write(output, "nothing that can be parsed"),
        3 => {}
        4 => write(output, &json!({"size": configuration["size"]}).to_string()),
        _ if adds => write(output, r#"{"size": null}"#),
        _ => write(output, std::str::from_utf8(input).expect("UTF-8")),
    }
    ALIVE.fetch_add(1, Ordering::Relaxed);
    // SAFETY: a place for the state.
    unsafe { *state = Box::into_raw(Box::new(State { mode, adds })).cast() };
    0
}

unsafe extern "C" fn encoded_bound(state: *mut c_void, decoded_size: u64) -> u64 {
    // SAFETY: `bind` made it.
    let state = unsafe { &*state.cast::<State>() };
    match state.mode {
        5 => u64::MAX,
        6 => decoded_size / 2,
        _ => decoded_size.saturating_add(state.adds.into()),
    }
}

/// What both directions do: `size` bytes of the input go out, and `extra` ones after them.
unsafe fn run(
    state: &State,
    (input, extra): (&[u8], Option<u8>),
    output: *mut c_void,
    capacity: usize,
    output_size: *mut usize,
    message: *mut zcodec_sink,
) -> i32 {
    let size = input.len() + usize::from(extra.is_some());
    // SAFETY: a place for the size, and `capacity` bytes, says the header.
    unsafe {
        match state.mode {
            7 => {
                write(message, "the host cannot");
                return -5;
            }
            8 => return ZCODEC_CODEC_TOO_SMALL,
            9 => *output_size = capacity + 1,
            _ if size > capacity => {
                *output_size = if state.mode == 10 { 0 } else { size };
                return ZCODEC_CODEC_TOO_SMALL;
            }
            _ => {
                for (at, byte) in input.iter().map(|byte| !byte).chain(extra).enumerate() {
                    output.cast::<u8>().add(at).write(byte);
                }
                *output_size = size;
            }
        }
    }
    0
}

unsafe extern "C" fn encode(
    state: *mut c_void,
    _call_data: *mut c_void,
    decoded: *const c_void,
    decoded_size: usize,
    encoded: *mut c_void,
    encoded_capacity: usize,
    encoded_size: *mut usize,
    message: *mut zcodec_sink,
) -> i32 {
    // SAFETY: the pointers are as the header says; `bind` made the state.
    unsafe {
        let state = &*state.cast::<State>();
        let decoded = slice(decoded, decoded_size);
        let sum = state.adds.then(|| decoded.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
        run(state, (decoded, sum), encoded, encoded_capacity, encoded_size, message)
    }
}

unsafe extern "C" fn decode(
    state: *mut c_void,
    _call_data: *mut c_void,
    encoded: *const c_void,
    encoded_size: usize,
    decoded: *mut c_void,
    decoded_capacity: usize,
    decoded_size: *mut usize,
    message: *mut zcodec_sink,
) -> i32 {
    // SAFETY: the pointers are as the header says; `bind` made the state.
    unsafe {
        let state = &*state.cast::<State>();
        let mut encoded = slice(encoded, encoded_size);
        if state.adds {
            let Some((sum, rest)) = encoded.split_last() else { return 2 };
            if *sum != rest.iter().fold(0, |sum: u8, byte| sum.wrapping_add(!byte)) {
                write(message, "another sum");
                return 2;
            }
            encoded = rest;
        }
        run(state, (encoded, None), decoded, decoded_capacity, decoded_size, message)
    }
}

unsafe fn slice<'a>(bytes: *const c_void, size: usize) -> &'a [u8] {
    // SAFETY: the header says so of these two; an empty side may be NULL.
    if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(bytes.cast(), size) } }
}

/// Paddings that are a sum of the chunk; `call_data` that is not NULL makes both callbacks fail.
///
/// # Safety
/// As the header says of this function.
pub unsafe extern "C" fn generate(
    _user_data: *mut c_void,
    call_data: *mut c_void,
    chunk: *const u8,
    chunk_size: usize,
    padding: *mut u8,
    padding_size: usize,
) -> i32 {
    // SAFETY: the pointers are as the header says.
    unsafe {
        let sum = slice(chunk.cast(), chunk_size).iter().fold(1, |sum: u8, byte| sum.wrapping_add(*byte));
        (0..padding_size).for_each(|at| padding.add(at).write(sum));
    }
    i32::from(!call_data.is_null())
}

/// Checks them.
///
/// # Safety
/// As the header says of this function.
pub unsafe extern "C" fn check(
    _user_data: *mut c_void,
    call_data: *mut c_void,
    chunk: *const u8,
    chunk_size: usize,
    padding: *const u8,
    padding_size: usize,
) -> i32 {
    // SAFETY: the pointers are as the header says.
    let is_right = unsafe {
        let sum = slice(chunk.cast(), chunk_size).iter().fold(1, |sum: u8, byte| sum.wrapping_add(*byte));
        slice(padding.cast(), padding_size).iter().all(|byte| *byte == sum)
    };
    if is_right { i32::from(!call_data.is_null()) } else { 4 }
}

/// For `free_user_data` of the callbacks.
///
/// # Safety
/// As the header says of this function.
pub unsafe extern "C" fn free_padding(user_data: *mut c_void) {
    // SAFETY: the same contract.
    unsafe { free_user_data(user_data) }
}

/// Threads of the host; with the right `user_data`, they give up.
pub fn executor(fails: bool) -> zcodec_executor {
    let user_data = if fails { std::ptr::without_provenance_mut(1) } else { null_mut() };
    zcodec_executor {
        struct_size: size_of::<zcodec_executor>(),
        user_data,
        max_workers: 3,
        reserved: 0,
        run: Some(run_jobs),
    }
}

struct Job(*mut c_void);
// SAFETY: the header asks that any thread runs the jobs.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

unsafe extern "C" fn run_jobs(user_data: *mut c_void, job: zcodec_job_fn, job_data: *mut c_void, count: u32) -> i32 {
    let (job, job_data) = (job.expect("a function"), Job(job_data));
    assert!(count <= 3, "more jobs than workers");
    std::thread::scope(|scope| {
        let job_data = &job_data;
        // SAFETY: each job is run once, and has its own worker.
        (1..count).for_each(|i| drop(scope.spawn(move || unsafe { job(job_data.0, i, i) })));
        // SAFETY: as above.
        unsafe { job(job_data.0, 0, 0) };
    });
    i32::from(!user_data.is_null())
}

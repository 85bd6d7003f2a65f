//! The C interface as a careful program in C uses it: every pointer is what the header asks for, every error is looked
//! at, every handle is freed once.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use zcodec::capi::{
    StatusArgument, ZCODEC_SIZE_UNKNOWN, zcodec_box, zcodec_buffer, zcodec_buffer_data, zcodec_buffer_free,
    zcodec_buffer_size, zcodec_chain, zcodec_chain_free, zcodec_error, zcodec_error_code, zcodec_error_codec_index,
    zcodec_error_element_index, zcodec_error_free, zcodec_error_message, zcodec_error_path, zcodec_error_status,
    zcodec_index, zcodec_index_free, zcodec_plan, zcodec_plan_free, zcodec_range, zcodec_registry,
    zcodec_registry_free, zcodec_status, zcodec_status_name, zcodec_supported_json, zcodec_version, zcodec_view,
    zcodec_writer, zcodec_writer_free,
};

/// What a call of the C interface gives.
pub type Called<T> = Result<T, zcodec_status>;

/// Makes a call with an error to fill in, which must fit the status.
///
/// # Errors
/// The status, if it is not OK.
pub fn call(function: impl FnOnce(*mut *mut zcodec_error) -> zcodec_status) -> Called<()> {
    let mut error = null_mut();
    let status = function(&mut error);
    assert!(status_name(status).starts_with("ZCODEC_STATUS_"));
    if status == zcodec_status::ZCODEC_STATUS_OK {
        assert!(error.is_null(), "an error without a failure");
        return Ok(());
    }
    // SAFETY: the error of this call; its texts end with a NUL and live as long as it.
    unsafe {
        let text = |text: *const c_char| CStr::from_ptr(text).to_str().expect("UTF-8").to_owned();
        let message = text(zcodec_error_message(error));
        assert_eq!(zcodec_error_status(error), status, "{message}");
        assert_ne!(status, zcodec_status::ZCODEC_STATUS_INTERNAL, "{message}");
        assert!(!message.is_empty() && text(zcodec_error_code(error)).is_ascii());
        let path = text(zcodec_error_path(error));
        assert_eq!(path.is_empty(), zcodec_error_codec_index(error) < 0, "{path}: {message}");
        assert!(zcodec_error_element_index(error) >= -1);
        zcodec_error_free(error);
    }
    Err(status)
}

/// The name of a status.
pub fn status_name(status: zcodec_status) -> String {
    // SAFETY: a status is an integer in the layout of `StatusArgument`; the name is a static text that ends with a NUL.
    let name = unsafe { CStr::from_ptr(zcodec_status_name(std::mem::transmute::<i32, StatusArgument>(status as i32))) };
    name.to_str().expect("UTF-8").to_owned()
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $of:ty, $free:path) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(*mut $of);

        impl $name {
            /// The handle that a call gives.
            ///
            /// # Errors
            /// The status, if it is not OK.
            pub fn of(make: impl FnOnce(*mut *mut $of, *mut *mut zcodec_error) -> zcodec_status) -> Called<Self> {
                let mut handle = null_mut();
                let called = call(|error| make(&mut handle, error));
                assert_eq!(handle.is_null(), called.is_err());
                called.map(|()| Self(handle))
            }

            pub fn as_ptr(&self) -> *mut $of {
                self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: it is freed once.
                unsafe { $free(self.0) }
            }
        }
    };
}

handle!(Handle, zcodec_chain, zcodec_chain_free);
handle!(Registry, zcodec_registry, zcodec_registry_free);
handle!(Index, zcodec_index, zcodec_index_free);
handle!(Plan, zcodec_plan, zcodec_plan_free);
handle!(ShardWriter, zcodec_writer, zcodec_writer_free);
handle!(Buffer, zcodec_buffer, zcodec_buffer_free);

impl Buffer {
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the buffer has this many bytes, and lives as long as they are borrowed.
        unsafe {
            match zcodec_buffer_size(self.0) {
                0 => &[],
                size => std::slice::from_raw_parts(zcodec_buffer_data(self.0), size),
            }
        }
    }
}

/// What the library says of itself.
pub fn library() -> (&'static CStr, &'static CStr) {
    // SAFETY: static texts that end with a NUL.
    unsafe { (CStr::from_ptr(zcodec_version()), CStr::from_ptr(zcodec_supported_json())) }
}

/// Elements of a box in memory, at any distances.
#[derive(Debug, Clone)]
pub struct Placed {
    pub start: Vec<u64>,
    pub shape: Vec<u64>,
    pub memory: Vec<u8>,
    strides: Vec<i64>,
    offset: usize,
    element_size: usize,
}

impl Placed {
    /// `form` has a bit for Fortran order, one for gaps, one for each dimension that goes backwards.
    pub fn new(start: &[u64], shape: &[u64], element_size: usize, form: u8) -> Self {
        let mut strides = vec![0; shape.len()];
        let (mut stride, mut offset) = (element_size as i64 * if form & 2 == 0 { 1 } else { 2 }, 0);
        for step in 0..shape.len() {
            let axis = if form & 1 == 0 { shape.len() - 1 - step } else { step };
            let is_backwards = form >> (2 + axis % 4) & 1 != 0 && shape[axis] > 0;
            strides[axis] = if is_backwards { -stride } else { stride };
            offset += if is_backwards { stride as usize * (shape[axis] as usize - 1) } else { 0 };
            stride *= shape[axis].max(1) as i64;
        }
        let memory = vec![0xA5; if shape.contains(&0) { 0 } else { stride as usize }];
        let offset = if memory.is_empty() { 0 } else { offset };
        Self { start: start.to_vec(), shape: shape.to_vec(), memory, strides, offset, element_size }
    }

    pub fn part(&self) -> zcodec_box {
        zcodec_box {
            struct_size: size_of::<zcodec_box>(),
            ndim: self.shape.len(),
            start: self.start.as_ptr(),
            shape: self.shape.as_ptr(),
        }
    }

    pub fn view(&mut self) -> zcodec_view {
        zcodec_view {
            struct_size: size_of::<zcodec_view>(),
            memory: self.memory.as_mut_ptr().cast(),
            memory_size: self.memory.len(),
            offset: self.offset,
            ndim: self.shape.len(),
            strides: self.strides.as_ptr(),
        }
    }

    /// Calls `found` with the place of each run of elements in memory, its place in the elements of an array of a
    /// shape, and its size.
    fn runs(&self, array: &[u64], mut found: impl FnMut(usize, usize, usize)) {
        let size = self.element_size;
        let (row, step) = match (self.shape.last(), self.strides.last()) {
            (Some(count), Some(stride)) => (*count as usize, *stride as isize),
            _ => (1, size as isize),
        };
        let outer = self.shape.len().saturating_sub(1);
        let count: u64 = if row == 0 { 0 } else { self.shape[..outer].iter().product() };
        for index in 0..count {
            let (mut rest, mut stride) = (index, array.last().copied().unwrap_or(1));
            let mut within = self.start.last().copied().unwrap_or(0);
            let mut at = self.offset as i64;
            for axis in (0..outer).rev() {
                let place = rest % self.shape[axis];
                rest /= self.shape[axis];
                at += place as i64 * self.strides[axis];
                within += (self.start[axis] + place) * stride;
                stride *= array[axis];
            }
            let (at, within) = (at as usize, within as usize * size);
            if step == size as isize {
                found(at, within, row * size);
            } else {
                (0..row).for_each(|i| found(at.wrapping_add_signed(i as isize * step), within + i * size, size));
            }
        }
    }

    /// Asserts that memory has the elements of a decoded array of this shape.
    pub fn check(&self, array: &[u64], decoded: &[u8], what: &str) {
        self.runs(array, |at, within, size| {
            assert!(self.memory[at..at + size] == decoded[within..within + size], "{what}, elements at {within}");
        });
    }

    /// Takes the elements of a decoded array of this shape.
    pub fn fill(&mut self, array: &[u64], decoded: &[u8]) {
        let mut memory = std::mem::take(&mut self.memory);
        self.runs(array, |at, within, size| memory[at..at + size].copy_from_slice(&decoded[within..within + size]));
        self.memory = memory;
    }

    /// Puts its elements into a decoded array of this shape.
    pub fn copy_to(&self, array: &[u64], decoded: &mut [u8]) {
        self.runs(array, |at, within, size| {
            decoded[within..within + size].copy_from_slice(&self.memory[at..at + size])
        });
    }
}

/// The bytes of a range in an object; `None` if it does not have them.
pub fn range_of(object: &[u8], range: zcodec_range) -> Option<&[u8]> {
    let whole = object.len() as u64;
    let (start, end) = match range {
        zcodec_range { offset: ZCODEC_SIZE_UNKNOWN, size } => (whole.checked_sub(size)?, whole),
        zcodec_range { offset, size: ZCODEC_SIZE_UNKNOWN } => (offset, whole),
        zcodec_range { offset, size } => (offset, offset.checked_add(size)?),
    };
    object.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// Bytes as the C interface takes them; NULL if there are none.
pub fn pointer(bytes: &[u8]) -> *const c_void {
    if bytes.is_empty() { null() } else { bytes.as_ptr().cast() }
}

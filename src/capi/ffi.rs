//! Conversions of the caller's pointers, and the frame of every entry point; `caller_struct` has those of structs.

use super::error::{zcodec_error, zcodec_status};
use crate::error::{Error, Result, Status};
use crate::float_environment::{is_within_call, with_own_environment};
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Does the work of an entry point, in the library's own floating-point environment; `Err` becomes a status and a
/// handle, a panic `INTERNAL`.
pub(super) fn guard(mut error: Option<&mut *mut zcodec_error>, work: impl FnOnce() -> Result<()>) -> zcodec_status {
    if let Some(error) = error.as_deref_mut() {
        *error = std::ptr::null_mut();
    }
    quiet_panics();
    let result = with_own_environment(|| catch_unwind(AssertUnwindSafe(work)))
        .unwrap_or_else(|_| Err(Error::internal("the library panicked: this is a bug, please report it")));
    match result {
        Ok(()) => zcodec_status::ZCODEC_STATUS_OK,
        Err(fault) => {
            if let Some(error) = error {
                *error = zcodec_error::into_handle(&fault);
            }
            fault.status().into()
        }
    }
}

/// Keeps panics of the library from being printed. In the shared or static library the hook belongs to its private copy
/// of the Rust standard library. In a Rust program that links the crate it is the program's own hook, which is still
/// called for all other panics. A second panic during the first one aborts the process, and is printed.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    // A panicking thread must not set the hook; it gets here if a destructor of a Rust program calls the library.
    if ONCE.is_completed() || std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let hook_of_others = take_hook();
        set_hook(Box::new(move |panic| {
            if !is_within_call() {
                hook_of_others(panic);
            }
        }));
    });
}

fn null(name: &str) -> Error {
    Error::new(Status::NullArgument, format!("{name} is NULL"))
}

/// Borrows a handle.
///
/// # Safety
/// `handle` is NULL or points to a live `T` that nobody changes during the call.
pub(super) unsafe fn handle<'a, T>(handle: *const T, name: &str) -> Result<&'a T> {
    // SAFETY: NULL is refused; for the rest, see above.
    unsafe { handle.as_ref() }.ok_or_else(|| null(name))
}

/// Borrows a handle mutably.
///
/// # Safety
/// `handle` is NULL or points to a live `T` that nobody else uses during the call.
pub(super) unsafe fn handle_mut<'a, T>(handle: *mut T, name: &str) -> Result<&'a mut T> {
    // SAFETY: NULL is refused; for the rest, see above.
    unsafe { handle.as_mut() }.ok_or_else(|| null(name))
}

/// Makes a handle, which the caller of the library frees.
pub(super) fn make_handle<T>(object: T) -> *mut T {
    Box::into_raw(Box::new(object))
}

/// Frees a handle. NULL is fine. Callbacks that free what the host gave run as in every entry point.
///
/// # Safety
/// `handle` is NULL or came from [`make_handle`], and nobody uses it any more.
pub(super) unsafe fn free_handle<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: it came from `make_handle`, and the caller frees it once.
        let object = unsafe { Box::from_raw(handle) };
        guard(None, || {
            drop(object);
            Ok(())
        });
    }
}

/// Borrows an optional result, and clears it.
///
/// # Safety
/// `result` is NULL, or writable and aligned.
pub(super) unsafe fn optional_out<'a, T>(result: *mut *mut T) -> Option<&'a mut *mut T> {
    if result.is_null() {
        return None;
    }
    // SAFETY: writable and aligned; written before it is read.
    unsafe {
        result.write(std::ptr::null_mut());
        Some(&mut *result)
    }
}

/// Borrows a result, and sets it to its value for failure.
///
/// # Safety
/// `result` is NULL, or writable and aligned.
pub(super) unsafe fn out<'a, T>(result: *mut T, on_failure: T, name: &str) -> Result<&'a mut T> {
    if result.is_null() {
        return Err(null(name));
    }
    // SAFETY: writable and aligned; written before it is read.
    unsafe {
        result.write(on_failure);
        Ok(&mut *result)
    }
}

/// Borrows elements to read. NULL with a count of 0 is an empty slice.
///
/// # Safety
/// `elements` is NULL or points to `count` readable elements, aligned, that nobody changes during the call.
pub(super) unsafe fn input<'a, T>(elements: *const T, count: usize, name: &str) -> Result<&'a [T]> {
    if elements.is_null() {
        return if count == 0 { Ok(&[]) } else { Err(null(name)) };
    }
    check_size::<T>(count, name)?;
    // SAFETY: not NULL, of a possible size; for the rest, see above.
    Ok(unsafe { std::slice::from_raw_parts(elements, count) })
}

/// Borrows elements to write. NULL with a count of 0 is an empty slice.
///
/// C callers may pass uninitialised memory: across the boundary of the compiled library, the compiler must assume that
/// its bytes have values, and the library writes them before it reads them. A Rust program that links the crate must
/// pass initialised memory, and so must a program that is optimised together with the library.
///
/// # Safety
/// `elements` is NULL or points to `count` writable elements, aligned, that nobody else uses during the call, and that
/// are initialised as far as the compiler can tell.
pub(super) unsafe fn output<'a, T: Copy>(elements: *mut T, count: usize, name: &str) -> Result<&'a mut [T]> {
    if elements.is_null() {
        return if count == 0 { Ok(&mut []) } else { Err(null(name)) };
    }
    check_size::<T>(count, name)?;
    // SAFETY: not NULL, of a possible size; for the rest, see above.
    Ok(unsafe { std::slice::from_raw_parts_mut(elements, count) })
}

/// Borrows text.
///
/// # Safety
/// `text` is NULL or points to NUL-terminated bytes that nobody changes during the call.
pub(super) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: not NULL; for the rest, see above.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::argument(format!("{name} is not UTF-8")))
}

fn check_size<T>(count: usize, name: &str) -> Result<()> {
    match count.checked_mul(size_of::<T>()).map(isize::try_from) {
        Some(Ok(_)) => Ok(()),
        _ => Err(Error::argument(format!("the size of {name} is {count}, more than fits into memory"))),
    }
}

/// What an argument for the size of an output gets: the size, the capacity that is needed, or 0.
pub(super) fn reported_size(result: &Result<usize>) -> usize {
    match result {
        Ok(size) => *size,
        Err(error) => error.needed_capacity().unwrap_or(0),
    }
}

/// Refuses an input and an output that share bytes.
pub(super) fn check_overlap(input: (*const u8, usize), output: (*const u8, usize)) -> Result<()> {
    let [(input, input_end), (output, output_end)] =
        [input, output].map(|(start, size)| (start.addr(), start.addr().saturating_add(size)));
    if input < output_end && output < input_end && input != input_end && output != output_end {
        return Err(overlap());
    }
    Ok(())
}

/// The error of an input and an output that share bytes.
pub(super) fn overlap() -> Error {
    Error::argument("the input and the output overlap")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_empty_only_with_size_0() {
        // SAFETY: NULL and refused sizes are never followed.
        unsafe {
            assert_eq!(input::<u8>(std::ptr::null(), 0, "x").unwrap().len(), 0);
            assert_eq!(input::<u8>(std::ptr::null(), 1, "x").unwrap_err().status(), Status::NullArgument);
            assert_eq!(output::<u8>(std::ptr::null_mut(), 0, "x").unwrap().len(), 0);
            assert_eq!(output::<u8>(std::ptr::null_mut(), 1, "x").unwrap_err().status(), Status::NullArgument);
        }
    }

    #[test]
    fn a_size_past_isize_max_is_refused() {
        let mut bytes = [0_u8; 8];
        let huge = isize::MAX as usize + 1;
        // SAFETY: the sizes are refused before the pointers are followed.
        unsafe {
            assert_eq!(input(bytes.as_ptr(), huge, "x").unwrap_err().status(), Status::InvalidArgument);
            assert_eq!(output(bytes.as_mut_ptr(), usize::MAX, "x").unwrap_err().status(), Status::InvalidArgument);
            let words = std::ptr::dangling::<u64>();
            assert_eq!(input(words, huge / 8, "x").unwrap_err().status(), Status::InvalidArgument);
        }
    }

    #[test]
    fn buffers_overlap_only_where_they_share_a_byte() {
        let bytes = [0_u8; 8];
        let at = |offset: usize| bytes[offset..].as_ptr();
        assert!(check_overlap((at(0), 4), (at(3), 1)).is_err());
        assert!(check_overlap((at(3), 1), (at(0), 4)).is_err());
        assert!(check_overlap((at(0), 4), (at(4), 4)).is_ok());
        assert!(check_overlap((at(2), 0), (at(0), 4)).is_ok());
        assert!(check_overlap((std::ptr::null(), 0), (at(0), 4)).is_ok());
    }

    #[test]
    fn a_panic_becomes_internal() {
        let mut error = std::ptr::null_mut();
        let status = guard(Some(&mut error), || panic!("injected"));
        assert_eq!(status, zcodec_status::ZCODEC_STATUS_INTERNAL);
        assert!(!error.is_null());
        // SAFETY: the handle is live and not used again.
        unsafe { super::super::zcodec_error_free(error) };
        let _ = catch_unwind(|| panic!("the program's own"));
    }

    #[test]
    fn a_panic_of_the_library_prints_nothing_and_those_of_the_program_do() {
        // The other test again, alone and with its output.
        let program = std::env::current_exe().unwrap();
        let name = "capi::ffi::tests::a_panic_becomes_internal";
        let output = std::process::Command::new(program).args(["--exact", name, "--nocapture"]).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{printed}");
        assert!(!printed.contains("injected"), "{printed}");
        assert!(printed.contains("the program's own"), "{printed}");
    }
}

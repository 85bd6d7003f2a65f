//! The caller's structs, which begin with their own size, single or in arrays.
//!
//! A caller may be older or newer than the library. An older struct lacks members at the end, which count as 0. A newer
//! one has members at the end that this version does not know; they must be 0, the default, since this version cannot
//! do what they ask for. Bytes between members and after the last one of an older struct are padding, whose content C
//! leaves undefined; the library ignores them.

use crate::error::{Error, Result, Status};
use std::mem::MaybeUninit;

/// A struct of the C interface that begins with `struct_size`.
///
/// # Safety
/// It is `repr(C)`, its first member is `struct_size: usize`, and every member may have any bits, also all zeros:
/// integers, pointers, `Option` of a function. `MEMBERS` are its members.
pub(super) unsafe trait CallerStruct: Copy {
    /// The name in the header.
    const NAME: &'static str;
    /// The `struct_size` of the oldest version: the end of its last member. It stays when members are added.
    const OLDEST_SIZE: usize;
    /// Where each member begins and ends, in order. [`members!`] makes it.
    const MEMBERS: &'static [(usize, usize)];
}

/// More than any version of a struct will ever have: a larger value means that the member was not set.
const MAX_STRUCT_SIZE: usize = 4096;

/// The beginning and the end of each of these members, which must be all of the struct.
macro_rules! members {
    ($name:ty: $($member:ident: $type:ty),+ $(,)?) => {
        &$crate::capi::caller_struct::checked(
            [$((
                std::mem::offset_of!($name, $member),
                std::mem::offset_of!($name, $member) + size_of::<$type>(),
            )),+],
            size_of::<$name>(),
        )
    };
}
pub(super) use members;

/// These members, if no more than padding lies between them and after the last; otherwise the compiler stops.
pub(super) const fn checked<const N: usize>(members: [(usize, usize); N], size: usize) -> [(usize, usize); N] {
    let mut index = 0;
    let mut end_before = 0;
    while index < N {
        let (start, end) = members[index];
        assert!(start >= end_before && start - end_before < size_of::<u64>(), "a member is missing, or out of order");
        end_before = end;
        index += 1;
    }
    assert!(size - end_before < size_of::<u64>(), "the last member is missing");
    members
}

/// Reads as much of a struct as the caller has.
///
/// # Errors
/// [`Status::NullArgument`]; [`Status::InvalidArgument`] for a size that is too small or ends within a member, or for
/// an unknown member.
///
/// # Safety
/// `pointer` is NULL, or begins with a `struct_size` and has that many readable bytes.
pub(super) unsafe fn read<T: CallerStruct>(pointer: *const T) -> Result<T> {
    if pointer.is_null() {
        return Err(Error::new(Status::NullArgument, format!("{} is NULL", T::NAME)));
    }
    // SAFETY: the struct begins with its size.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    check_size::<T>(size)?;
    let known = size.min(size_of::<T>());
    // SAFETY: the caller has `size` bytes, and set all members to 0 first.
    let unknown = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(known), size - known) };
    if unknown.iter().any(|byte| *byte != 0) {
        let (name, size) = (T::NAME, size_of::<T>());
        return Err(Error::argument(format!(
            "{name} has a member after byte {size} that this version of the library does not know; expected 0"
        )));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // A member is never cut in two. SAFETY: `value` has `size_of::<T>()` bytes, `pointer` has `size`; any bits are a
    // `T`.
    Ok(unsafe {
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), value.as_mut_ptr().cast(), known);
        value.assume_init()
    })
}

/// Reads an optional struct.
///
/// # Safety
/// As for [`read`].
pub(super) unsafe fn read_optional<T: CallerStruct>(pointer: *const T) -> Result<Option<T>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the same contract.
    unsafe { read(pointer) }.map(Some)
}

fn check_size<T: CallerStruct>(size: usize) -> Result<()> {
    let is_cut = T::MEMBERS.iter().any(|(start, end)| (start + 1..*end).contains(&size));
    if (T::OLDEST_SIZE..=MAX_STRUCT_SIZE).contains(&size) && !is_cut {
        return Ok(());
    }
    let (name, expected) = (T::NAME, size_of::<T>());
    Err(Error::argument(format!("struct_size is {size}, expected {expected}: sizeof({name})")))
}

/// An array of structs of the caller. All have the same `struct_size`, which is also the distance between them.
#[derive(Debug)]
pub(super) struct CallerArray<T> {
    first: *mut T,
    stride: usize,
    count: usize,
}

impl<T: CallerStruct> CallerArray<T> {
    /// Checks the sizes; elements are read one by one.
    ///
    /// # Errors
    /// [`Status::NullArgument`] for NULL with a count; [`Status::InvalidArgument`] for a size that [`read`] refuses, one
    /// that is not a multiple of the alignment, or elements of different sizes.
    ///
    /// # Safety
    /// `first` is NULL, or `count` structs that begin with the same `struct_size` follow one another at that distance;
    /// nobody else uses them while the array is in use.
    pub(super) unsafe fn new(first: *mut T, count: usize, name: &str) -> Result<Self> {
        if count == 0 {
            return Ok(Self { first, stride: 0, count });
        }
        if first.is_null() {
            return Err(Error::new(Status::NullArgument, format!("{name} is NULL")));
        }
        // SAFETY: the first struct begins with its size.
        let stride = unsafe { first.cast::<usize>().read_unaligned() };
        check_size::<T>(stride).map_err(|error| error.with_context(&format!("{name}[0]: ")))?;
        if !stride.is_multiple_of(align_of::<T>()) {
            return Err(Error::argument(format!(
                "{name}[0]: struct_size is {stride}, in an array expected a multiple of {}",
                align_of::<T>()
            )));
        }
        if stride.checked_mul(count).is_none_or(|size| isize::try_from(size).is_err()) {
            return Err(Error::argument(format!("the count of {name} is {count}, more than fit into memory")));
        }
        let array = Self { first, stride, count };
        for index in 1..count {
            // SAFETY: as above; each begins with its size.
            let size = unsafe { array.at(index).cast::<usize>().read_unaligned() };
            if size != stride {
                return Err(Error::argument(format!(
                    "{name}[{index}]: struct_size is {size}, expected {stride} as in {name}[0]"
                )));
            }
        }
        Ok(array)
    }

    /// The number of elements.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// A pointer to an element, for writing results into it.
    ///
    /// # Panics
    /// `index` is not below the count.
    pub(super) fn at(&self, index: usize) -> *mut T {
        assert!(index < self.count, "element {index} of {}", self.count);
        self.first.wrapping_byte_add(index * self.stride)
    }

    /// Reads an element.
    ///
    /// # Errors
    /// As for [`read`].
    ///
    /// # Safety
    /// The array's memory is still there, no `struct_size` has changed since the array was made, and no other thread
    /// writes to the array.
    pub(super) unsafe fn read(&self, index: usize) -> Result<T> {
        // SAFETY: the structs were asked for when the array was made.
        unsafe { read(self.at(index).cast_const()) }
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    /// As `zcodec_call_options`: a first version that ended at 20 bytes and had four of padding.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Sample {
        struct_size: u64,
        pointer: u64,
        count: u32,
        second: u64,
        flags: u64,
    }

    // SAFETY: integers; `struct_size` is as large as a `usize`.
    unsafe impl CallerStruct for Sample {
        const NAME: &'static str = "sample";
        const OLDEST_SIZE: usize = 8;
        const MEMBERS: &'static [(usize, usize)] =
            members!(Sample: struct_size: u64, pointer: u64, count: u32, second: u64, flags: u64);
    }

    /// Memory of the caller: a size, then this byte up to the end.
    fn memory(size: usize, fill: u8) -> Vec<u8> {
        let mut bytes = vec![fill; size];
        bytes[..8].copy_from_slice(&size.to_ne_bytes());
        bytes
    }

    #[test]
    fn members_that_an_older_caller_lacks_are_0_whatever_its_padding_holds() {
        const ONES: u64 = 0x0101_0101_0101_0101;
        for (size, pointer, count, second, flags) in [
            (8, 0, 0, 0, 0),
            (16, ONES, 0, 0, 0),
            (20, ONES, ONES as u32, 0, 0),
            (21, ONES, ONES as u32, 0, 0),
            (24, ONES, ONES as u32, 0, 0),
            (32, ONES, ONES as u32, ONES, 0),
            (40, ONES, ONES as u32, ONES, ONES),
        ] {
            let bytes = memory(size, 1);
            // SAFETY: `bytes` has as many bytes as it says.
            let found = unsafe { read(bytes.as_ptr().cast::<Sample>()) }.unwrap();
            assert_eq!(found, Sample { struct_size: size as u64, pointer, count, second, flags }, "{size}");
        }
    }

    #[test]
    fn sizes_that_no_version_has_are_refused() {
        for size in
            (0..=40).filter(|size| ![8, 16, 20, 21, 22, 23, 24, 32, 40].contains(size)).chain([4097, usize::MAX])
        {
            let mut bytes = [0; 64];
            bytes[..8].copy_from_slice(&size.to_ne_bytes());
            // SAFETY: sizes that are refused are not read.
            let error = unsafe { read(bytes.as_ptr().cast::<Sample>()) }.unwrap_err();
            assert_eq!(error.to_string(), format!("struct_size is {size}, expected 40: sizeof(sample)"));
        }
        // SAFETY: NULL is not followed.
        let (null, none) = unsafe { (read::<Sample>(std::ptr::null()), read_optional::<Sample>(std::ptr::null())) };
        assert_eq!(null.unwrap_err().status(), Status::NullArgument);
        assert_eq!(none, Ok(None));
    }

    #[test]
    fn unknown_members_must_be_0() {
        for size in [41, 48, 100, 4096] {
            let mut bytes = memory(size, 0);
            // SAFETY: `bytes` has as many bytes as it says.
            assert!(unsafe { read(bytes.as_ptr().cast::<Sample>()) }.is_ok());
            for at in [40, size - 1] {
                bytes[at] = 1;
                // SAFETY: as above.
                let error = unsafe { read(bytes.as_ptr().cast::<Sample>()) }.unwrap_err();
                assert_eq!(error.status(), Status::InvalidArgument);
                bytes[at] = 0;
            }
        }
    }

    #[test]
    fn the_size_is_the_distance_in_an_array() {
        for stride in [40, 48, 128] {
            let mut words = vec![0_u64; 3 * stride / 8];
            for (index, element) in words.chunks_exact_mut(stride / 8).enumerate() {
                element[0] = stride as u64;
                element[4] = 10 + index as u64;
            }
            let first = words.as_mut_ptr().cast::<Sample>();
            // SAFETY: three structs of this size.
            let array = unsafe { CallerArray::new(first, 3, "samples") }.unwrap();
            for index in 0..array.count() {
                // SAFETY: as above.
                assert_eq!(unsafe { array.read(index) }.unwrap().flags, 10 + index as u64);
            }
            words[2 * stride / 8] = 56;
            // SAFETY: only the sizes are read.
            let error = unsafe { CallerArray::new(words.as_mut_ptr().cast::<Sample>(), 3, "samples") }.unwrap_err();
            assert_eq!(error.to_string(), format!("samples[2]: struct_size is 56, expected {stride} as in samples[0]"));
        }
    }

    #[test]
    fn arrays_that_cannot_be_are_refused() {
        let mut words = [0_u64; 16];
        let array = |words: &mut [u64; 16], size: u64, count| {
            words[0] = size;
            // SAFETY: what is refused is not read past its size.
            unsafe { CallerArray::new(words.as_mut_ptr().cast::<Sample>(), count, "samples") }
        };
        assert_eq!(array(&mut words, 0, 0).unwrap().count(), 0);
        assert!(array(&mut words, 44, 1).unwrap_err().to_string().ends_with("expected a multiple of 8"));
        assert!(array(&mut words, 12, 1).unwrap_err().to_string().starts_with("samples[0]: struct_size is 12"));
        assert!(array(&mut words, 40, usize::MAX / 41).is_err());
        // SAFETY: NULL is not followed.
        let (none, null) = unsafe {
            let null = std::ptr::null_mut::<Sample>();
            (CallerArray::new(null, 0, "samples"), CallerArray::new(null, 1, "samples"))
        };
        assert_eq!(none.unwrap().count(), 0);
        assert_eq!(null.unwrap_err().status(), Status::NullArgument);
    }
}

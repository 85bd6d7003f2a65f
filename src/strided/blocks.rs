//! Copies block by block: of a plane that has no tiles, such as the rows of a box.
#![expect(unsafe_code, reason = "views of one memory may interleave, so that their elements are reached by pointers")]

use super::plane::Plane;
#[cfg(target_arch = "x86_64")]
use super::prefetch::request;
#[cfg(target_arch = "x86_64")]
use crate::memory::LINE_SIZE;
use crate::memory::copy;

/// The side of the squares in which a plane is walked, so that a cache line is still cached when its next part is
/// needed.
const SIDE: usize = 32;

/// The reference.
///
/// # Safety
/// All blocks of the plane can be read in the source and written in the target.
pub(super) unsafe fn portable(plane: &Plane, _is_large: bool) {
    let size = plane.block;
    // SAFETY: as the caller promises.
    unsafe {
        match size {
            1 => squares(plane, |source, target| element::<1>(source, target)),
            2 => squares(plane, |source, target| element::<2>(source, target)),
            3 => squares(plane, |source, target| element::<3>(source, target)),
            4 => squares(plane, |source, target| element::<4>(source, target)),
            5..8 => squares(plane, |source, target| ends::<4>(source, target, size)),
            8 => squares(plane, |source, target| element::<8>(source, target)),
            9..16 => squares(plane, |source, target| ends::<8>(source, target, size)),
            16 => squares(plane, |source, target| element::<16>(source, target)),
            17..32 => squares(plane, |source, target| ends::<16>(source, target, size)),
            32 => squares(plane, |source, target| element::<32>(source, target)),
            // Rows of inner chunks.
            64 => squares(plane, |source, target| element::<64>(source, target)),
            128 => squares(plane, |source, target| element::<128>(source, target)),
            33..256 => squares(plane, |source, target| run(source, target, size)),
            _ => squares(plane, |source, target| whole(source, target, size)),
        }
    }
}

/// Rows of boxes by larger vectors: fewer stores wait for a cache line that has to be fetched. On a Zen 3, rows of 64 and
/// 128 bytes take 0.7 to 0.9 of the time.
///
/// # Safety
/// As [`portable`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn avx2(plane: &Plane, is_large: bool) {
    let size = plane.block;
    // SAFETY: as the caller promises.
    unsafe {
        match size {
            32 => squares(plane, |source, target| element::<32>(source, target)),
            64 => squares(plane, |source, target| element::<64>(source, target)),
            128 => squares(plane, |source, target| element::<128>(source, target)),
            33..512 => squares(plane, |source, target| run(source, target, size)),
            512..=4096 if is_large => squares(plane, |source, target| requesting::<true>(source, target, plane)),
            _ => portable(plane, is_large),
        }
    }
}

/// The same on processors with AVX-512. Rows are requested in smaller copies, too. Those of large ones are requested into
/// the second-level cache, which can wait for more lines at once: on a Zen 4, rows of 2 and 4 KiB take 0.75 to 0.9 of the
/// time.
///
/// # Safety
/// As [`avx2`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn avx512(plane: &Plane, is_large: bool) {
    // SAFETY: as the caller promises.
    unsafe {
        match plane.block {
            512..=4096 if is_large => squares(plane, |source, target| requesting::<false>(source, target, plane)),
            512..=4096 => squares(plane, |source, target| requesting::<true>(source, target, plane)),
            _ => avx2(plane, is_large),
        }
    }
}

/// # Safety
/// `SIZE` bytes can be read and written.
#[inline(always)] // otherwise the loop makes a call per block
unsafe fn element<const SIZE: usize>(source: *const u8, target: *mut u8) {
    // SAFETY: arrays of bytes need no alignment; for the rest, see above.
    unsafe { target.cast::<[u8; SIZE]>().write(source.cast::<[u8; SIZE]>().read()) };
}

/// The first and the last `SIZE` bytes of `size`, which are at most twice as many.
///
/// # Safety
/// `size` bytes, at least `SIZE`, can be read and written.
#[inline(always)] // otherwise the loop makes a call per block
unsafe fn ends<const SIZE: usize>(source: *const u8, target: *mut u8, size: usize) {
    // SAFETY: both parts are within the block.
    unsafe {
        let last = source.add(size - SIZE).cast::<[u8; SIZE]>().read();
        element::<SIZE>(source, target);
        target.add(size - SIZE).cast::<[u8; SIZE]>().write(last);
    }
}

/// A block of at least 32 bytes.
///
/// # Safety
/// `size` bytes can be read and written.
#[inline(always)] // otherwise the loop makes a call per block
unsafe fn run(source: *const u8, target: *mut u8, size: usize) {
    let mut at = 0;
    // SAFETY: all parts are within the block.
    unsafe {
        while at + 32 < size {
            element::<32>(source.add(at), target.add(at));
            at += 32;
        }
        element::<32>(source.add(size - 32), target.add(size - 32));
    }
}

/// A block of at least a cache line, of which each line requests the same one of the next block: processors do not find
/// out by themselves where that is.
///
/// # Safety
/// The block can be read and written. The next one need not exist.
#[cfg(target_arch = "x86_64")]
#[inline(always)] // for the instruction set of the caller
unsafe fn requesting<const INTO_FIRST: bool>(source: *const u8, target: *mut u8, plane: &Plane) {
    let next_source = source.wrapping_offset(plane.inner.source);
    let next_target = target.wrapping_offset(plane.inner.target);
    for at in (0..plane.block).step_by(LINE_SIZE) {
        request::<INTO_FIRST>(next_source.wrapping_add(at));
        request::<INTO_FIRST>(next_target.wrapping_add(at));
        let at = at.min(plane.block - LINE_SIZE);
        // SAFETY: the line is within the block.
        unsafe { element::<LINE_SIZE>(source.add(at), target.add(at)) };
    }
}

/// # Safety
/// `size` bytes can be read and written, and the two sides share none.
pub(super) unsafe fn whole(source: *const u8, target: *mut u8, size: usize) {
    // SAFETY: as the caller promises.
    unsafe { copy(std::slice::from_raw_parts(source, size), std::slice::from_raw_parts_mut(target, size)) };
}

/// # Safety
/// `work` can be called for each block of the plane.
#[inline(always)] // so that each size of blocks has loops of its own
unsafe fn squares(plane: &Plane, work: impl Fn(*const u8, *mut u8)) {
    let Plane { inner, other, source, target, .. } = plane;
    let side = if other.size == 1 { inner.size } else { SIDE };
    for i in (0..inner.size).step_by(side) {
        for j in 0..other.size {
            let row = source.wrapping_offset(j as isize * other.source);
            let target = target.wrapping_offset(j as isize * other.target);
            for i in i..inner.size.min(i + side) {
                work(row.wrapping_offset(i as isize * inner.source), target.wrapping_offset(i as isize * inner.target));
            }
        }
    }
}

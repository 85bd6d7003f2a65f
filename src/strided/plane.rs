//! The two innermost loops of a copy.
#![expect(unsafe_code, reason = "source and target are pointers, of which each element is reached once")]

use super::nest::Axis;

/// The side of the squares in which a plane is walked, so that what one pass over a cache line leaves is still there
/// when the next needs it.
const SIDE: usize = 32;

/// Copies the blocks of two axes.
///
/// # Safety
/// All blocks of the plane can be read in the source and written in the target.
pub(super) unsafe fn copy(block: usize, inner: &Axis, other: &Axis, source: *const u8, target: *mut u8) {
    // SAFETY: as the caller promises.
    unsafe {
        match block {
            1 => squares(inner, other, source, target, |source, target| element::<1>(source, target)),
            2 => squares(inner, other, source, target, |source, target| element::<2>(source, target)),
            3 => squares(inner, other, source, target, |source, target| element::<3>(source, target)),
            4 => squares(inner, other, source, target, |source, target| element::<4>(source, target)),
            8 => squares(inner, other, source, target, |source, target| element::<8>(source, target)),
            16 => squares(inner, other, source, target, |source, target| element::<16>(source, target)),
            size => squares(inner, other, source, target, |source, target| {
                std::ptr::copy_nonoverlapping(source, target, size);
            }),
        }
    }
}

/// # Safety
/// `SIZE` bytes can be read and written.
#[inline(always)] // a loop of calls else
unsafe fn element<const SIZE: usize>(source: *const u8, target: *mut u8) {
    // SAFETY: arrays of bytes need no alignment; for the rest, see above.
    unsafe { target.cast::<[u8; SIZE]>().write(source.cast::<[u8; SIZE]>().read()) };
}

/// # Safety
/// `work` can be called for each block of the plane.
#[inline(always)] // so that each size of elements has loops of its own
unsafe fn squares(inner: &Axis, other: &Axis, source: *const u8, target: *mut u8, work: impl Fn(*const u8, *mut u8)) {
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

//! Blocks of three dimensions, the cubes. [`d4`] makes blocks of four dimensions of four of them.
//!
//! * [`memory`]: values to vectors; [`transform`]: integers to coefficients.
//! * [`matrix`]: coefficients to bit planes, by bytes in the [`order`] of their frequency.

pub(super) mod matrix;
mod memory;
pub(super) mod order;
mod transform;

use super::super::planes_of_words::Planes;
use super::super::x86::cubes::CubeKernel;
use super::{Avx2, d4};
use std::arch::x86_64::__m256i;

/// The values of a cube; those of 32 bits take the first half.
pub(super) type Vectors = [__m256i; 16];
/// The values of four cubes, as those of one.
pub(super) type Cubes = [__m256i; 64];

// SAFETY: a value exists only where the processor has the instructions of the tier, of which these are some.
unsafe impl CubeKernel for Avx2 {
    type Cube = Vectors;
    type Cubes = Cubes;

    #[inline(always)]
    fn cube_size(wide: bool) -> usize {
        if wide { 16 } else { 8 }
    }

    #[inline(always)]
    fn load_cube<const WIDE: bool>(self, bytes: &[u8], cube: &mut [__m256i]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { memory::load::<WIDE>(bytes, cube) };
    }

    #[inline(always)]
    fn store_cube<const WIDE: bool>(self, cube: &[__m256i], bytes: &mut [u8]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { memory::store::<WIDE>(cube, bytes) };
    }

    #[inline(always)]
    fn lift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [__m256i]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { transform::lift_axes::<WIDE, REVERSIBLE>(self, cube) };
    }

    #[inline(always)]
    fn unlift_axes<const WIDE: bool, const REVERSIBLE: bool>(self, cube: &mut [__m256i]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { transform::unlift_axes::<WIDE, REVERSIBLE>(self, cube) };
    }

    #[inline(always)]
    fn cube_to_planes<const WIDE: bool>(self, cube: &Vectors, kmin: u32, top: u32, planes: &mut [u64; 64]) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { matrix::to_planes::<WIDE>(cube, kmin, top, planes) };
    }

    #[inline(always)]
    fn planes_to_cube<const WIDE: bool>(self, planes: &[u64; 64], lowest: u32) -> Vectors {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { matrix::coefficients_of::<WIDE>(planes, lowest) }
    }

    #[inline(always)]
    fn cubes_to_planes<const WIDE: bool>(self, cubes: &Cubes, kmin: u32, top: u32, planes: &mut Planes<4>) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { d4::to_planes::<WIDE>(cubes, kmin, top, planes) };
    }

    #[inline(always)]
    fn planes_to_cubes<const WIDE: bool>(self, planes: &Planes<4>, lowest: u32, cubes: &mut Cubes) {
        // SAFETY: there is a value of this type only where the processor has the instructions.
        unsafe { d4::coefficients_of::<WIDE>(planes, lowest, cubes) };
    }
}

//! The scalar map, laid over a block after it was converted.

use super::lane::{Integer, Lane, Pass};
use super::reference::{Cast, is_same, value};
use crate::codec::simd::{Loop, vectorized};
use crate::data_type::{Component, FloatValue};
use std::marker::PhantomData;

/// With more entries the reference looks them up.
const MAX_ENTRY_COUNT: usize = 8;

/// What replaces the image of a bit pattern, or of every NaN.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u64,
    mapped: u64,
    /// Whether the conversion counts such elements as bad.
    is_bad: bool,
}

/// Replaces the images of mapped elements. What it counts are those that the conversion has counted as bad.
#[derive(Debug)]
struct Patch<S, T> {
    /// The patterns above this one are NaN, without their sign.
    infinity: S,
    nan: Option<Entry>,
    /// Laid over those of `nan`: a NaN in here stands before it in the map.
    exact: Vec<Entry>,
    target: PhantomData<T>,
}

/// The pass for a map; none if it is too long. `is_bad` says whether the conversion counts a source as bad.
pub(super) fn pass(cast: &Cast, is_bad: impl Fn(u64) -> bool) -> Option<Box<dyn Pass>> {
    match cast.source.size() {
        2 => from::<u16>(cast, is_bad),
        4 => from::<u32>(cast, is_bad),
        8 => from::<u64>(cast, is_bad),
        _ => None,
    }
}

fn from<S: Integer>(cast: &Cast, is_bad: impl Fn(u64) -> bool) -> Option<Box<dyn Pass>> {
    match cast.target.size() {
        1 => Patch::<S, u8>::pass(cast, is_bad),
        2 => Patch::<S, u16>::pass(cast, is_bad),
        4 => Patch::<S, u32>::pass(cast, is_bad),
        _ => Patch::<S, u64>::pass(cast, is_bad),
    }
}

impl<S: Integer, T: Integer> Patch<S, T> {
    fn pass(cast: &Cast, is_bad: impl Fn(u64) -> bool) -> Option<Box<dyn Pass>> {
        let (every_nan, infinity) = match cast.source {
            Component::Float(format) => (format.nan(), format.infinity(false).unwrap_or(u64::MAX)),
            _ => (None, u64::MAX),
        };
        let mut nan = None;
        let mut exact: Vec<Entry> = Vec::new();
        for &(key, mapped) in &cast.scalar_map {
            let mapped = sign_extended(cast.target, mapped);
            let entry = Entry { key, mapped, is_bad: is_bad(key) };
            let is_nan = value(cast.source, key) == FloatValue::Nan;
            if is_nan && Some(key) == every_nan {
                nan = nan.or(Some(entry));
            } else if is_nan && nan.is_none() && exact.iter().all(|earlier| earlier.key != key) {
                exact.push(entry);
            } else if !is_nan && exact.iter().all(|earlier| !is_same(cast.source, earlier.key, key)) {
                exact.push(entry);
                let negated = key ^ (1 << (cast.source.bits() - 1));
                if is_same(cast.source, key, negated) {
                    exact.push(Entry { key: negated, ..entry });
                }
            }
            if exact.len() > MAX_ENTRY_COUNT {
                return None;
            }
        }
        for entry in exact.iter_mut().filter(|entry| value(cast.source, entry.key) == FloatValue::Nan) {
            entry.is_bad &= nan.is_none();
        }
        Some(Box::new(Self { infinity: S::truncate(infinity), nan, exact, target: PhantomData }))
    }
}

/// The bits as they lie in memory.
pub(super) fn sign_extended(component: Component, bits: u64) -> u64 {
    match component {
        Component::Int { bits: width, signed: true } => (((bits << (64 - width)) as i64) >> (64 - width)) as u64,
        _ => bits,
    }
}

impl<S: Integer, T: Integer> Pass for Patch<S, T> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> u64 {
        let mut excused = 0;
        if let Some(entry) = &self.nan {
            let magnitude = S::truncate((u64::MAX >> (64 - S::BITS)) >> 1);
            let is_nan = |element: S| element & magnitude > self.infinity;
            excused += lay::<S, T>(input, output, is_nan, entry);
        }
        for entry in &self.exact {
            let key = S::truncate(entry.key);
            excused += lay::<S, T>(input, output, |element: S| element == key, entry);
        }
        excused
    }
}

fn lay<S: Integer, T: Integer>(input: &[u8], output: &mut [u8], matches: impl Fn(S) -> bool, entry: &Entry) -> u64 {
    let mapped = T::truncate(entry.mapped);
    let matched = vectorized(Lay { input, output, matches, mapped, source: PhantomData });
    if entry.is_bad { matched } else { 0 }
}

struct Lay<'a, S, T, M> {
    input: &'a [u8],
    output: &'a mut [u8],
    matches: M,
    mapped: T,
    source: PhantomData<S>,
}

impl<S: Integer, T: Integer, M: Fn(S) -> bool> Loop for Lay<'_, S, T, M> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let mut matched = <S as Lane>::Count::from(false);
        for (output, input) in T::elements_mut(self.output).iter_mut().zip(S::elements(self.input)) {
            let is_match = (self.matches)(S::load(*input));
            *output = if is_match { self.mapped } else { T::load(*output) }.store();
            matched += is_match.into();
        }
        matched.into()
    }
}

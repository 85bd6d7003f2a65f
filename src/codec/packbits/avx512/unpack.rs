//! Unpacking: a byte permutation brings each component the bytes that hold its field, and a shift of its own for each
//! moves the field to its place.
//!
//! Components of one byte share a lane, whose fields fit in it: `vpmultishiftqb` takes each byte from the bit on that
//! puts the field in its place.

use super::{Avx512, first_bytes, group_size, load, set_lane, store};
use crate::codec::packbits::field::{Field, FieldKind};
use std::arch::x86_64::*;

#[derive(Debug)]
pub(super) struct Unpack {
    /// For each byte of memory, the packed byte for it; `next` has those that follow, where a field ends in them.
    bytes: [u8; 64],
    next: [u8; 64],
    /// Whether a field ends after the bytes for its component.
    has_next: bool,
    /// For each component, the bit where its field begins, in the bytes for the component; or the bit where a component
    /// of one byte begins, in those for the lane.
    shifts: [u8; 64],
    /// How far components are shifted to the left after that.
    places: [u8; 64],
    /// The field of each component, and the highest of its bits if that is a sign.
    fields: [u8; 64],
    signs: [u8; 64],
    /// What six bits become: a component of one byte whose field ends within them, by one permutation.
    values: Option<[u8; 64]>,
}

impl Unpack {
    pub(super) fn new(field: &Field) -> Self {
        let (size, bits) = (field.size, field.bits as usize);
        let mut new = Self {
            bytes: [0; 64],
            next: [0; 64],
            has_next: false,
            shifts: [0; 64],
            places: [0; 64],
            fields: [0; 64],
            signs: [0; 64],
            values: None,
        };
        for index in 0..64 / size {
            let (place, start) = (index * size, index * bits);
            // The fields of a lane of bytes begin with one of its bytes.
            let first_byte = if size == 1 { index / 8 * bits } else { start / 8 };
            for byte in 0..size {
                let byte_in_lane = if size == 1 { index % 8 } else { byte };
                new.bytes[place + byte] = (first_byte + byte_in_lane) as u8;
                new.next[place + byte] = (first_byte + byte_in_lane + size) as u8;
            }
            let shift = start - 8 * first_byte;
            // In a lane, bit -1 is bit 63.
            let component = (64 + shift - field.first_bit as usize) % 64;
            new.shifts[place] = if size == 1 { component } else { shift } as u8;
            new.has_next |= shift + bits > 8 * size;
            set_lane(&mut new.places, size, index, field.first_bit.into());
            set_lane(&mut new.fields, size, index, (u64::MAX >> (64 - field.bits)) << field.first_bit);
            set_lane(&mut new.signs, size, index, 1 << field.last_bit());
        }
        if size == 1 && field.kind == FieldKind::Signed && field.last_bit() < 6 {
            let (mask, sign) = (new.fields[0], new.signs[0]);
            new.values = Some(std::array::from_fn(|bits| ((bits as u8 & mask) ^ sign).wrapping_sub(sign)));
        }
        new
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
pub(super) fn decode<const SIZE: usize>(kernel: &Avx512, encoded: &[u8], decoded: &mut [u8]) -> usize {
    let Avx512 { field, unpack, .. } = kernel;
    let size = group_size(field);
    let mask = first_bytes(size);
    let steps = Steps::new(field, unpack);
    let groups = decoded.as_chunks_mut::<64>().0;
    let count = groups.len().min(encoded.len() / size);
    for (index, group) in groups[..count].iter_mut().enumerate() {
        let start = index * size;
        let packed = if let Some(bytes) = encoded[start..].first_chunk() {
            load(bytes)
        } else {
            // SAFETY: `encoded` has `count` packed groups; what the mask leaves out is not read.
            unsafe { _mm512_maskz_loadu_epi8(mask, encoded.as_ptr().add(start).cast()) }
        };
        store(steps.unpack::<SIZE>(packed), group);
    }
    count * 64 / SIZE
}

/// An [`Unpack`] in registers. Equal shifts have a register of counts, too: by a single count they take two steps.
struct Steps {
    bytes: __m512i,
    next: __m512i,
    shifts: __m512i,
    places: __m512i,
    fields: __m512i,
    signs: __m512i,
    values: Option<__m512i>,
    has_next: bool,
    is_signed: bool,
}

impl Steps {
    #[target_feature(enable = "avx512f")]
    fn new(field: &Field, unpack: &Unpack) -> Self {
        Self {
            bytes: load(&unpack.bytes),
            next: load(&unpack.next),
            shifts: load(&unpack.shifts),
            places: load(&unpack.places),
            fields: load(&unpack.fields),
            signs: load(&unpack.signs),
            values: unpack.values.as_ref().map(|values| load(values)),
            has_next: unpack.has_next,
            is_signed: field.kind == FieldKind::Signed,
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
    fn unpack<const SIZE: usize>(&self, packed: __m512i) -> __m512i {
        let bytes = _mm512_permutexvar_epi8(self.bytes, packed);
        let next = if self.has_next { _mm512_permutexvar_epi8(self.next, packed) } else { _mm512_setzero_si512() };
        let placed = match SIZE {
            1 => _mm512_multishift_epi64_epi8(self.shifts, bytes),
            2 => _mm512_sllv_epi16(_mm512_shrdv_epi16(bytes, next, self.shifts), self.places),
            4 => _mm512_sllv_epi32(_mm512_shrdv_epi32(bytes, next, self.shifts), self.places),
            _ => _mm512_sllv_epi64(_mm512_shrdv_epi64(bytes, next, self.shifts), self.places),
        };
        if let Some(values) = self.values {
            return _mm512_permutexvar_epi8(placed, values);
        }
        let fields = _mm512_and_si512(placed, self.fields);
        if !self.is_signed {
            return fields;
        }
        let flipped = _mm512_xor_si512(fields, self.signs);
        match SIZE {
            1 => _mm512_sub_epi8(flipped, self.signs),
            2 => _mm512_sub_epi16(flipped, self.signs),
            4 => _mm512_sub_epi32(flipped, self.signs),
            _ => _mm512_sub_epi64(flipped, self.signs),
        }
    }
}

//! Which bits of a component are packed, and what surrounds them after unpacking.

use crate::data_type::Component;

/// How this codec treats a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// True if any bit of its byte is set.
    Bool,
    /// Sign-extended from the last packed bit.
    Signed,
    /// Zero-extended: floats are bit patterns.
    Unsigned,
    /// Little-endian bytes on every machine, zero-extended.
    Raw,
}

/// The packed bits of a component.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) kind: FieldKind,
    /// Bytes of a component in memory.
    pub(crate) size: usize,
    /// The lowest packed bit.
    pub(crate) first_bit: u32,
    /// The number of packed bits, at least 1.
    pub(crate) bits: u32,
}

impl Field {
    /// Bits `first_bit` to `last_bit` of a component, both included.
    pub(crate) fn new(component: Component, first_bit: u32, last_bit: u32) -> Self {
        let kind = match component {
            Component::Bool => FieldKind::Bool,
            Component::Int { signed: true, .. } => FieldKind::Signed,
            Component::Raw { size } if size > 1 => FieldKind::Raw,
            _ => FieldKind::Unsigned,
        };
        Self { kind, size: component.size(), first_bit, bits: last_bit - first_bit + 1 }
    }

    /// All bits of a component in memory.
    pub(crate) fn size_bits(&self) -> u32 {
        8 * self.size as u32
    }

    /// The highest packed bit.
    pub(crate) fn last_bit(&self) -> u32 {
        self.first_bit + self.bits - 1
    }

    /// Whether packing changes no byte on this machine.
    pub(crate) fn is_copy(&self) -> bool {
        let is_little_endian = self.size == 1 || self.kind == FieldKind::Raw || cfg!(target_endian = "little");
        self.bits == self.size_bits() && is_little_endian
    }

    /// The sizes in bytes, in memory and packed, of `count` components that take whole bytes when packed.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(crate) fn sizes_of_whole_bytes(&self, count: usize) -> (usize, usize) {
        (count * self.size, count * self.bits as usize / 8)
    }

    /// The bytes that `count` packed components take. `None` if that overflows.
    #[cfg(test)]
    pub(crate) fn packed_size(&self, count: usize) -> Option<usize> {
        let rest = (count % 8 * self.bits as usize).div_ceil(8);
        (count / 8).checked_mul(self.bits as usize)?.checked_add(rest)
    }
}

/// A word with a value in each of its lanes of `lane_bits`. If those are wider than the word, it is the low end of one.
pub(crate) fn in_each_lane(lane_bits: u32, value: u64) -> u64 {
    let ones = match lane_bits {
        8 => 0x0101_0101_0101_0101,
        16 => 0x0001_0001_0001_0001,
        32 => 0x0000_0001_0000_0001,
        _ => 1,
    };
    ones * value
}

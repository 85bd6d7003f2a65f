//! `packbits`: elements of a few bits each, without gaps.
//!
//! Specification:
//! [zarr-extensions, `packbits`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/packbits). Bits
//! fill a byte from the low one up. The published schema names members and values `start_bit`, `end_bit`, `start_byte`,
//! `end_byte` where the text has `first_` and `last_`: both are read, the text's are written. Data types that the text
//! does not list are packed as their little-endian bytes.
//!
//! [`reference`] is the definition, and [`TIERS`] lists all kernels.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod blocks;
mod field;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod padding_count;
mod portable;
mod reference;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod runs;
#[cfg(test)]
mod tests;

pub(crate) use field::Field;

use crate::codec::location::Location;
use crate::data_type::DataType;
use crate::error::{Error, Result};
use crate::interface::{Binding, Codec, Context, Elementwise, Kind, Pass, SizedKernel, packed_size};
use crate::json::{Configuration, integer};
use crate::representation::{ByteSize, Representation};
use crate::simd::{Level, Tier, available};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The kernel of a tier for components of this kind. `None` if the processor lacks the instructions, or if the tier
/// gains nothing.
type KernelFor = fn(&Field) -> Option<Arc<dyn Elementwise>>;

/// Fastest first. The last has a kernel for every field.
pub(crate) static TIERS: &[Tier<KernelFor>] = &[
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx512, kernel: avx512::kernel },
    #[cfg(target_arch = "x86_64")]
    Tier { level: Level::Avx2, kernel: avx2::kernel },
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Tier { level: Level::Neon, kernel: neon::kernel },
    Tier { level: Level::Portable, kernel: portable::kernel },
    Tier { level: Level::Reference, kernel: reference::kernel },
];

#[derive(Debug)]
struct PackBits {
    /// Where the byte is that counts the padding bits.
    padding_count: Option<Location>,
    first_bit: Option<BitIndex>,
    last_bit: Option<BitIndex>,
}

/// An end of the range of bits.
#[derive(Debug, Clone, Copy)]
struct BitIndex {
    /// The member as the metadata has it, for messages.
    member: &'static str,
    value: u64,
}

/// `{"padding_encoding": "none" | "first_byte" | "last_byte", "first_bit": n | null, "last_bit": n | null}`
pub(super) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let choices = ["none", "first_byte", "last_byte", "start_byte", "end_byte"];
    let padding_count = configuration.one_of("padding_encoding", &choices)?.and_then(|choice| {
        [None, Some(Location::Start), Some(Location::End), Some(Location::Start), Some(Location::End)][choice]
    });
    let first_bit = bit_index(&mut configuration, "first_bit", "start_bit")?;
    let last_bit = bit_index(&mut configuration, "last_bit", "end_bit")?;
    configuration.finish()?;
    Ok(Arc::new(PackBits { padding_count, first_bit, last_bit }))
}

fn bit_index(configuration: &mut Configuration, member: &'static str, alias: &'static str) -> Result<Option<BitIndex>> {
    let (member, value) = match (configuration.optional(member), configuration.optional(alias)) {
        (Some(_), Some(_)) => {
            return Err(Error::metadata(format!(
                "{member} and {alias} are the same member, expected only one of them"
            )));
        }
        (Some(value), None) => (member, value),
        (None, Some(value)) => (alias, value),
        (None, None) => return Ok(None),
    };
    if value.is_null() {
        return Ok(None);
    }
    let value = integer(member, &value, 0, i128::from(u64::MAX))? as u64;
    Ok(Some(BitIndex { member, value }))
}

impl PackBits {
    /// The first and the last bit of a component of this type.
    fn bit_range(&self, data_type: &DataType) -> Result<(u32, u32)> {
        let highest = data_type.component().bits() - 1;
        let inside = |bit: Option<BitIndex>, default: u32| match bit {
            None => Ok(default),
            Some(BitIndex { member, value }) => {
                u32::try_from(value).ok().filter(|bit| *bit <= highest).ok_or_else(|| {
                    let component = if data_type.component_count() > 1 { "a component of " } else { "" };
                    Error::metadata(format!("{member} is {value}, but {component}{data_type} has bits 0 to {highest}"))
                })
            }
        };
        let (first, last) = (inside(self.first_bit, 0)?, inside(self.last_bit, highest)?);
        if last < first {
            let name = |bit: Option<BitIndex>, default| bit.map_or(default, |bit| bit.member);
            let (first_bit, last_bit) = (name(self.first_bit, "first_bit"), name(self.last_bit, "last_bit"));
            return Err(Error::metadata(format!("{last_bit} is {last}, less than {first_bit}, which is {first}")));
        }
        Ok((first, last))
    }
}

impl Codec for PackBits {
    fn kind(&self) -> Kind {
        Kind::ArrayToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        let padding_encoding = match self.padding_count {
            None => "none",
            Some(Location::Start) => "first_byte",
            Some(Location::End) => "last_byte",
        };
        let bits = [("first_bit", self.first_bit), ("last_bit", self.last_bit)];
        let bits = bits.into_iter().filter_map(|(member, bit)| Some((member.to_owned(), Value::from(bit?.value))));
        let padding = std::iter::once(("padding_encoding".to_owned(), Value::from(padding_encoding)));
        Some(padding.chain(bits).collect())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let array = decoded.array()?;
        let data_type = array.data_type();
        if data_type.is_run_of_bytes() {
            return Err(Error::unsupported(format!("packbits does not support data_type {data_type}")));
        }
        let (first_bit, last_bit) = self.bit_range(data_type)?;
        let field = Field::new(data_type.component(), first_bit, last_bit);
        let encoded_bits = data_type.component_count() * field.bits as usize;
        let frame = self.padding_count.map(|place| padding_count::frame(place, array.element_count(), encoded_bits));
        let size = ByteSize::Exact(packed_size(array.element_count(), encoded_bits));
        let size = frame.iter().fold(size, |size, frame| size.plus(frame.leading_size()).plus(frame.trailing_size()));
        let kernels = vec![SizedKernel { kernel: fastest(&field)?, encoded_bits }];
        Ok(Binding::serializer(decoded, size, Pass::Elementwise { kernels, frame }))
    }
}

/// The fastest kernel that this machine has for a field.
fn fastest(field: &Field) -> Result<Arc<dyn Elementwise>> {
    if field.is_copy() {
        return Ok(Arc::new(Copy));
    }
    let kernel = available(TIERS).find_map(|tier| (tier.kernel)(field));
    kernel.ok_or_else(|| Error::internal("the last tier has no kernel"))
}

/// Every tier's kernel for the bits `first_bit` to `last_bit` of a data type, with its level.
///
/// # Errors
/// The data type is unknown.
#[cfg(feature = "internals")]
pub fn kernels(data_type: &str, first_bit: u32, last_bit: u32) -> Result<Vec<(Level, Arc<dyn Elementwise>)>> {
    let field = Field::new(DataType::from_name(data_type)?.component(), first_bit, last_bit);
    Ok(available(TIERS).filter_map(|tier| Some((tier.level, (tier.kernel)(&field)?))).collect())
}

/// All bits of a type that lies in memory as it is packed.
#[derive(Debug)]
struct Copy;

impl Elementwise for Copy {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        crate::memory::copy(decoded, encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        crate::memory::copy(encoded, decoded);
        Ok(())
    }

    fn is_copy(&self) -> bool {
        true
    }
}

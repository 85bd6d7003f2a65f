//! `bytes`: the elements back to back, in a given byte order.
//!
//! Specification: [Zarr v3 core, `bytes`](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/bytes/index.html).
//! `endian` is required for components of more than one byte. Types of fewer than 8 bits are written as they lie in
//! memory, one byte per element, with the bits above the type as in the library's own layout: the sign for `intN`, zero
//! for the others. Decoding ignores those bits.
//!
//! [zarr-extensions, `structured`](https://github.com/zarr-developers/zarr-extensions/tree/main/data-types/structured): arrays of
//! this type without `endian` are little-endian.

mod members;

use crate::data_type::{Component, Endian};
use crate::error::{Error, Result};
use crate::interface::{Binding, Codec, Context, Elementwise, Kind, Pass, SizedKernel, Warning};
use crate::json::{Configuration, one_of};
use crate::representation::{ByteSize, Representation};
use crate::simd::{Loop, vectorized};
use members::Members;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The type of structs that zarr-python has written without `endian`.
const LEGACY_STRUCT: &str = "structured";

#[derive(Debug)]
struct Bytes {
    endian: Option<Endian>,
}

/// `{"endian": "little" | "big"}`
pub(super) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let endian = match configuration.optional("endian") {
        None => None,
        Some(value) => Some([Endian::Little, Endian::Big][one_of("endian", &value, &["little", "big"])?]),
    };
    configuration.finish()?;
    Ok(Arc::new(Bytes { endian }))
}

impl Codec for Bytes {
    fn kind(&self) -> Kind {
        Kind::ArrayToBytes
    }

    fn keeps_integers(&self) -> bool {
        true
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        let endian = match self.endian? {
            Endian::Little => "little",
            Endian::Big => "big",
        };
        Some(Map::from_iter([("endian".to_owned(), Value::from(endian))]))
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        let array = decoded.array()?;
        let data_type = array.data_type();
        let parts = data_type.parts();
        let (mut endian, mut warnings) = (self.endian, Vec::new());
        if let Some(part) = parts.iter().find(|part| part.component.has_byte_order() && self.endian.is_none()) {
            if data_type.name() != LEGACY_STRUCT {
                return Err(Error::metadata(format!(
                    "endian is missing, but {data_type} has components of {} bytes",
                    part.component.size()
                )));
            }
            endian = Some(Endian::Little);
            let message = format!("endian is missing: {data_type} is read as little-endian, as its writers mean it");
            warnings.push(Warning::new("assumed_little_endian", message));
        }
        let kernel_of = |component| kernel(component, endian);
        let members = Members::new(parts.iter().map(|part| (kernel_of(part.component), part.size())));
        let kernel: Arc<dyn Elementwise> = match members.only() {
            Some(kernel) => Arc::new(kernel),
            None => Arc::new(members),
        };
        let kernels = vec![SizedKernel { kernel, encoded_bits: 8 * data_type.size() }];
        let pass = Pass::Elementwise { kernels, frame: None };
        Ok(Binding { warnings, ..Binding::serializer(decoded, ByteSize::Exact(array.size()), pass) })
    }
}

fn kernel(component: Component, endian: Option<Endian>) -> Kernel {
    match component {
        Component::Bool => Kernel::Bool,
        Component::Int { bits, signed: true } if bits < 8 => Kernel::SignExtend { bits },
        Component::Int { .. } | Component::Float(_) if component.bits() < 8 => {
            Kernel::Mask((1 << component.bits()) - 1)
        }
        _ if component.has_byte_order() && endian != Some(Endian::NATIVE) => match component.size() {
            2 => Kernel::Swap2,
            4 => Kernel::Swap4,
            _ => Kernel::Swap8,
        },
        _ => Kernel::Copy,
    }
}

/// The change to each byte or component, the same in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    Copy,
    /// Any non-zero byte is 1.
    Bool,
    SignExtend {
        bits: u32,
    },
    Mask(u8),
    Swap2,
    Swap4,
    Swap8,
}

impl Kernel {
    fn run(self, input: &[u8], output: &mut [u8]) {
        match self {
            Self::Copy => crate::memory::copy(input, output),
            Self::Bool => map_bytes(input, output, |byte| u8::from(byte != 0)),
            Self::SignExtend { bits } => {
                let shift = 8 - bits;
                map_bytes(input, output, |byte| (((byte << shift) as i8) >> shift) as u8);
            }
            Self::Mask(mask) => map_bytes(input, output, |byte| byte & mask),
            Self::Swap2 => swap(input, output, |bytes| u16::from_ne_bytes(bytes).swap_bytes().to_ne_bytes()),
            Self::Swap4 => swap(input, output, |bytes| u32::from_ne_bytes(bytes).swap_bytes().to_ne_bytes()),
            Self::Swap8 => swap(input, output, |bytes| u64::from_ne_bytes(bytes).swap_bytes().to_ne_bytes()),
        }
    }
}

fn map_bytes(input: &[u8], output: &mut [u8], map: impl Fn(u8) -> u8) {
    for (output, input) in output.iter_mut().zip(input) {
        *output = map(*input);
    }
}

fn swap<const SIZE: usize>(input: &[u8], output: &mut [u8], component: impl Fn([u8; SIZE]) -> [u8; SIZE]) {
    vectorized(Swap { input: input.as_chunks().0, output: output.as_chunks_mut().0, component });
}

struct Swap<'a, const SIZE: usize, F> {
    input: &'a [[u8; SIZE]],
    output: &'a mut [[u8; SIZE]],
    component: F,
}

impl<const SIZE: usize, F: Fn([u8; SIZE]) -> [u8; SIZE]> Loop for Swap<'_, SIZE, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (output, input) in self.output.iter_mut().zip(self.input) {
            *output = (self.component)(*input);
        }
    }
}

impl Elementwise for Kernel {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        self.run(decoded, encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.run(encoded, decoded);
        Ok(())
    }

    fn is_copy(&self) -> bool {
        *self == Self::Copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::DataType;
    use crate::representation::ArrayRepresentation;

    #[test]
    fn swapping_reverses_each_component() {
        let input: Vec<u8> = (0..24).collect();
        let mut output = vec![0xA5; 24];
        for (kernel, size) in [(Kernel::Swap2, 2), (Kernel::Swap4, 4), (Kernel::Swap8, 8)] {
            kernel.run(&input, &mut output);
            for (output, input) in output.chunks(size).zip(input.chunks(size)) {
                assert!(output.iter().eq(input.iter().rev()), "{kernel:?}");
            }
        }
    }

    #[test]
    fn a_struct_of_numbers_needs_an_endian() {
        for (data_type, endian, is_valid) in
            [("int16", None, false), ("int16", Some(Endian::Big), true), ("uint8", None, true)]
        {
            let fields = serde_json::json!([{"name": "a", "data_type": "int8"}, {"name": "b", "data_type": data_type}]);
            let json = serde_json::json!({"name": "struct", "configuration": {"fields": fields}});
            let array = ArrayRepresentation::new(DataType::from_json(&json).unwrap(), vec![2], None).unwrap();
            assert_eq!(
                Bytes { endian }.bind(&Representation::Array(array)).is_ok(),
                is_valid,
                "{data_type} {endian:?}"
            );
        }
    }

    #[test]
    fn a_legacy_struct_without_an_endian_is_little_endian() {
        let json =
            serde_json::json!({"name": "structured", "configuration": {"fields": [["a", "int8"], ["b", "int16"]]}});
        let array = ArrayRepresentation::new(DataType::from_json(&json).unwrap(), vec![2], None).unwrap();
        let array = Representation::Array(array);
        let bind = |endian| Bytes { endian }.bind(&array).unwrap();
        let codes = |bound: &Binding| bound.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>();
        assert_eq!(codes(&bind(None)), ["assumed_little_endian"]);
        assert_eq!(codes(&bind(Some(Endian::Little))), Vec::<&str>::new());
        let passes = [None, Some(Endian::Little), Some(Endian::Big)].map(|endian| format!("{:?}", bind(endian).pass));
        assert!(passes[0] == passes[1] && passes[0] != passes[2], "{passes:?}");
    }

    #[test]
    fn bits_above_a_small_type_are_not_read() {
        let all: Vec<u8> = (0..=255).collect();
        let mut output = vec![0; 256];
        Kernel::SignExtend { bits: 4 }.run(&all, &mut output);
        assert!((0..256).all(|i| output[i] as i8 == ((i as i8) << 4) >> 4));
        Kernel::Mask(0x3F).run(&all, &mut output);
        assert!((0..256).all(|i| output[i] == i as u8 & 0x3F));
        Kernel::Bool.run(&all, &mut output);
        assert!((0..256).all(|i| output[i] == u8::from(i != 0)));
    }
}

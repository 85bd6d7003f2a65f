//! NumPy's numbers and its casts between them, block by block.
//!
//! A cast goes through a block of wide lanes: 64-bit integers for integers and bools, `float64` for floats, which every
//! float fits. So each type has one loop per lane and direction, and no pair of types has code of its own.
//!
//! Integers wrap. Floats round to nearest, ties to even, and overflow to infinity; an integer becomes a `float16` by
//! way of `float32`, as in NumPy. A float becomes an integer towards zero, and wraps as NumPy does on x86-64: by way of
//! `int32` for `int32` and the narrower types, otherwise of `int64`. What does not fit that has no defined value there:
//! it is an error.

use crate::data_type::{DataType, Endian, NumpyType};
use crate::error::{Error, Result};
use crate::json::shown;
use crate::simd::{Loop, vectorized};
use half::f16;
use serde_json::Value;
use std::ops::{Add, Div, Mul, Sub};

/// The number of elements in a block of lanes.
pub(super) const BLOCK: usize = 256;

/// A number type of NumPy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

/// The type that a member of a configuration names, and its byte order: without one, that of the machine that wrote the
/// array, hence little-endian. `None` if the codecs do not take it.
pub(crate) fn element_type(name: &str) -> Option<NumpyType> {
    let number = NumberType::from_text(name)?;
    let endian = if name.starts_with('>') { Endian::Big } else { Endian::Little };
    Some(NumpyType { data_type: number.data_type().ok()?, endian: (number.size() > 1).then_some(endian) })
}

/// Arithmetic with the same bits on every processor: numbers that give a NaN, such as two infinities, give the one of
/// x86-64, on which NumPy has written most arrays. Others give one without the sign bit.
pub(super) trait Float:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    const NAN_OF_NUMBERS: Self;
    fn is_nan(self) -> bool;

    #[inline(always)] // so that the compiler sees the function inside the loop, as all that follow
    fn plus(self, other: Self) -> Self {
        (self + other).settled([self, other])
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        (self - other).settled([self, other])
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        (self * other).settled([self, other])
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        (self / other).settled([self, other])
    }

    /// The result of an operation on these operands, with the NaN of x86-64 if none of them is one.
    #[inline(always)]
    fn settled(self, operands: [Self; 2]) -> Self {
        if cfg!(any(target_arch = "x86", target_arch = "x86_64")) || !self.is_nan() {
            return self;
        }
        if operands.iter().any(|operand| operand.is_nan()) { self } else { Self::NAN_OF_NUMBERS }
    }
}

impl Float for f32 {
    const NAN_OF_NUMBERS: Self = Self::from_bits(0xFFC0_0000);

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

impl Float for f64 {
    const NAN_OF_NUMBERS: Self = Self::from_bits(0xFFF8_0000_0000_0000);

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

/// Every type by the name of the Zarr data type, with NumPy's code.
const NAMES: [(NumberType, &str, &str); 12] = [
    (NumberType::Bool, "bool", "b1"),
    (NumberType::I8, "int8", "i1"),
    (NumberType::I16, "int16", "i2"),
    (NumberType::I32, "int32", "i4"),
    (NumberType::I64, "int64", "i8"),
    (NumberType::U8, "uint8", "u1"),
    (NumberType::U16, "uint16", "u2"),
    (NumberType::U32, "uint32", "u4"),
    (NumberType::U64, "uint64", "u8"),
    (NumberType::F16, "float16", "f2"),
    (NumberType::F32, "float32", "f4"),
    (NumberType::F64, "float64", "f8"),
];

/// NumPy's other names, and its codes of one character, as far as they mean the same everywhere: `l` and `long` do not.
/// `int` and `uint` had 32 bits on Windows before NumPy 2.
const ALIASES: [(&str, NumberType); 26] = [
    ("?", NumberType::Bool),
    ("b", NumberType::I8),
    ("byte", NumberType::I8),
    ("h", NumberType::I16),
    ("short", NumberType::I16),
    ("i", NumberType::I32),
    ("intc", NumberType::I32),
    ("q", NumberType::I64),
    ("longlong", NumberType::I64),
    ("int", NumberType::I64),
    ("B", NumberType::U8),
    ("ubyte", NumberType::U8),
    ("H", NumberType::U16),
    ("ushort", NumberType::U16),
    ("I", NumberType::U32),
    ("uintc", NumberType::U32),
    ("Q", NumberType::U64),
    ("ulonglong", NumberType::U64),
    ("uint", NumberType::U64),
    ("e", NumberType::F16),
    ("half", NumberType::F16),
    ("f", NumberType::F32),
    ("single", NumberType::F32),
    ("d", NumberType::F64),
    ("double", NumberType::F64),
    ("float", NumberType::F64),
];

impl NumberType {
    /// The type that an array's elements have in memory.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        NAMES.iter().find(|(_, name, _)| *name == data_type.name()).map(|(number, ..)| *number)
    }

    /// NumPy's name or code of the type of the codec's input: `float32`, `f4`, `<f4`, `|u1`, `single`, `f`.
    ///
    /// # Errors
    /// It is not a text, or none of these types in the byte order of memory.
    pub(super) fn from_json(member: &str, json: &Value) -> Result<Self> {
        let number = Self::from_json_in_any_order(member, json)?;
        if json.as_str().is_some_and(|text| text.starts_with('>')) && number.size() > 1 {
            return Err(Error::unsupported(format!(
                "{member} is {}, but an array in memory is not in big-endian order; the codec bytes writes that",
                shown(json)
            )));
        }
        Ok(number)
    }

    /// The same for the type of its output, whose byte order means nothing: `bytes` writes elements in its own.
    ///
    /// # Errors
    /// It is not a text, or none of these types.
    pub(super) fn from_json_in_any_order(member: &str, json: &Value) -> Result<Self> {
        let text = json
            .as_str()
            .ok_or_else(|| Error::metadata(format!("{member} is {}, expected a NumPy data type", shown(json))))?;
        Self::from_text(text).ok_or_else(|| {
            Error::unsupported(format!("{member} is {}, expected a bool, integer or float of NumPy", shown(json)))
        })
    }

    fn from_text(text: &str) -> Option<Self> {
        let code = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
        let is_meant = |(_, name, short): &&(Self, &str, &str)| *short == code || *name == text;
        // A word has no byte order.
        let is_alias = |(alias, _): &&(&str, Self)| *alias == if alias.len() == 1 { code } else { text };
        let found = NAMES.iter().find(is_meant).map(|(number, ..)| *number);
        found.or_else(|| ALIASES.iter().find(is_alias).map(|(_, number)| *number))
    }

    /// The name of the Zarr data type.
    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|(number, ..)| *number == self).map_or("", |(_, name, _)| name)
    }

    /// The Zarr data type.
    pub(super) fn data_type(self) -> Result<DataType> {
        DataType::from_name(self.name())
    }

    /// The size of an element in bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    pub(super) fn is_integer(self) -> bool {
        !self.is_float() && self != Self::Bool
    }

    /// Whether the 64 bits that represent an element are a signed number.
    pub(super) fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Refuses an array of another type than a member of the configuration names.
    pub(super) fn check(self, member: &str, array: &DataType) -> Result<()> {
        if Self::of(array) == Some(self) {
            return Ok(());
        }
        let name = self.name();
        Err(Error::metadata(format!("{member} is {name}, but the data type of the codec's input is {array}")))
    }

    /// The type of an array.
    ///
    /// # Errors
    /// It is none of these.
    pub(super) fn of_array(array: &DataType) -> Result<Self> {
        Self::of(array).ok_or_else(|| {
            Error::unsupported(format!(
                "the data type of the array is {array}, expected a bool, integer or float of NumPy"
            ))
        })
    }
}

/// Reads elements of a fixed size into lanes.
#[inline(always)] // so that the compiler sees the function inside the loop
fn load<const SIZE: usize, L>(bytes: &[u8], lanes: &mut [L], f: impl Fn([u8; SIZE]) -> L) {
    for (lane, element) in lanes.iter_mut().zip(bytes.as_chunks::<SIZE>().0) {
        *lane = f(*element);
    }
}

/// Writes lanes as elements of a fixed size.
#[inline(always)] // so that the compiler sees the function inside the loop
fn store<const SIZE: usize, L: Copy>(lanes: &[L], bytes: &mut [u8], f: impl Fn(L) -> [u8; SIZE]) {
    for (lane, element) in lanes.iter().zip(bytes.as_chunks_mut::<SIZE>().0) {
        *element = f(*lane);
    }
}

impl NumberType {
    /// Integers and bools, sign- or zero-extended. Floats have no such lanes: nothing is written.
    #[inline(always)] // so that it is compiled for the caller's instruction set
    pub(super) fn load_integers(self, bytes: &[u8], lanes: &mut [u64]) {
        match self {
            Self::Bool => load(bytes, lanes, |[byte]| u64::from(byte != 0)),
            Self::I8 => load(bytes, lanes, |b| i8::from_ne_bytes(b) as u64),
            Self::I16 => load(bytes, lanes, |b| i16::from_ne_bytes(b) as u64),
            Self::I32 => load(bytes, lanes, |b| i32::from_ne_bytes(b) as u64),
            Self::I64 | Self::U64 => load(bytes, lanes, u64::from_ne_bytes),
            Self::U8 => load(bytes, lanes, |[byte]| u64::from(byte)),
            Self::U16 => load(bytes, lanes, |b| u16::from_ne_bytes(b).into()),
            Self::U32 => load(bytes, lanes, |b| u32::from_ne_bytes(b).into()),
            Self::F16 | Self::F32 | Self::F64 => {}
        }
    }

    /// Any number; integers of 64 bits are rounded to nearest.
    #[inline(always)] // so that it is compiled for the caller's instruction set
    pub(super) fn load_floats(self, bytes: &[u8], lanes: &mut [f64]) {
        match self {
            Self::Bool => load(bytes, lanes, |[byte]| f64::from(u8::from(byte != 0))),
            Self::I8 => load(bytes, lanes, |b| i8::from_ne_bytes(b).into()),
            Self::I16 => load(bytes, lanes, |b| i16::from_ne_bytes(b).into()),
            Self::I32 => load(bytes, lanes, |b| i32::from_ne_bytes(b).into()),
            Self::I64 => load(bytes, lanes, |b| i64::from_ne_bytes(b) as f64),
            Self::U8 => load(bytes, lanes, |[byte]| byte.into()),
            Self::U16 => load(bytes, lanes, |b| u16::from_ne_bytes(b).into()),
            Self::U32 => load(bytes, lanes, |b| u32::from_ne_bytes(b).into()),
            Self::U64 => load(bytes, lanes, |b| u64::from_ne_bytes(b) as f64),
            Self::F16 => load(bytes, lanes, |b| f16::from_ne_bytes(b).to_f64()),
            Self::F32 => load(bytes, lanes, |b| f32::from_ne_bytes(b).into()),
            Self::F64 => load(bytes, lanes, f64::from_ne_bytes),
        }
    }

    /// Writes integers that [`load_integers`](Self::load_integers) of a signed or unsigned type has read.
    #[inline(always)] // so that it is compiled for the caller's instruction set
    pub(super) fn store_integers(self, lanes: &[u64], are_signed: bool, bytes: &mut [u8]) {
        match self {
            Self::Bool => store(lanes, bytes, |lane| [u8::from(lane != 0)]),
            Self::I8 | Self::U8 => store(lanes, bytes, |lane| [lane as u8]),
            Self::I16 | Self::U16 => store(lanes, bytes, |lane| (lane as u16).to_ne_bytes()),
            Self::I32 | Self::U32 => store(lanes, bytes, |lane| (lane as u32).to_ne_bytes()),
            Self::I64 | Self::U64 => store(lanes, bytes, u64::to_ne_bytes),
            Self::F16 if are_signed => store(lanes, bytes, |lane| f16::from_f32(lane as i64 as f32).to_ne_bytes()),
            Self::F16 => store(lanes, bytes, |lane| f16::from_f32(lane as f32).to_ne_bytes()),
            Self::F32 if are_signed => store(lanes, bytes, |lane| (lane as i64 as f32).to_ne_bytes()),
            Self::F32 => store(lanes, bytes, |lane| (lane as f32).to_ne_bytes()),
            Self::F64 if are_signed => store(lanes, bytes, |lane| (lane as i64 as f64).to_ne_bytes()),
            Self::F64 => store(lanes, bytes, |lane| (lane as f64).to_ne_bytes()),
        }
    }

    /// Writes floats.
    ///
    /// # Errors
    /// The first that cannot be represented; those before it are written.
    #[inline(always)] // so that it is compiled for the caller's instruction set
    pub(super) fn store_floats(self, lanes: &[f64], bytes: &mut [u8]) -> Result<()> {
        // All at once, without a branch: elements that cannot be represented are rare.
        let (least, most) = self.bounds();
        let holds = |lane: f64| lane > least && lane < most;
        if self.is_integer()
            && !lanes.iter().fold(true, |all, lane| all & holds(*lane))
            && let Some(index) = lanes.iter().position(|lane| !holds(*lane))
        {
            self.store_finite(lanes.get(..index).unwrap_or_default(), bytes);
            let lane = lanes.get(index).copied().unwrap_or(f64::NAN);
            return Err(Error::out_of_range(
                index,
                format!("is {lane:?} before the cast to {}, which has no value for it", self.name()),
            ));
        }
        self.store_finite(lanes, bytes);
        Ok(())
    }

    /// Between which numbers, these left out, the integer type that a cast goes by way of holds a number cut to an
    /// integer.
    fn bounds(self) -> (f64, f64) {
        const TWO_31: f64 = (1_u64 << 31) as f64;
        const TWO_63: f64 = (1_u64 << 63) as f64;
        match self {
            Self::U32 | Self::I64 => (-TWO_63.next_up(), TWO_63),
            Self::U64 => (-TWO_63.next_up(), 2.0 * TWO_63),
            _ => (-TWO_31 - 1.0, TWO_31),
        }
    }

    /// Writes floats that the type has values for.
    #[inline(always)] // so that it is compiled for the caller's instruction set
    fn store_finite(self, lanes: &[f64], bytes: &mut [u8]) {
        match self {
            Self::Bool => store(lanes, bytes, |lane| [u8::from(lane != 0.0)]),
            Self::I8 | Self::U8 => store(lanes, bytes, |lane| [truncated(lane) as u8]),
            Self::I16 | Self::U16 => store(lanes, bytes, |lane| (truncated(lane) as u16).to_ne_bytes()),
            Self::I32 => store(lanes, bytes, |lane| truncated(lane).to_ne_bytes()),
            Self::U32 => store(lanes, bytes, |lane| (lane as i64 as u32).to_ne_bytes()),
            Self::I64 => store(lanes, bytes, |lane| (lane as i64).to_ne_bytes()),
            Self::U64 => store(lanes, bytes, |lane| unsigned(lane).to_ne_bytes()),
            Self::F16 => store(lanes, bytes, |lane| half_of(lane).to_ne_bytes()),
            Self::F32 => store(lanes, bytes, |lane| (lane as f32).to_ne_bytes()),
            Self::F64 => store(lanes, bytes, f64::to_ne_bytes),
        }
    }
}

/// The integer part of a number that `int32` holds. The compiler vectorises this, which it does not do with `as i32`.
#[inline(always)] // part of the loop
fn truncated(lane: f64) -> u32 {
    /// Numbers near it are integers, whose distance from it is in their low bits.
    const MAGIC: f64 = 1.5 * (1_u64 << 52) as f64;
    (lane.trunc() + MAGIC).to_bits() as u32
}

/// Negative numbers wrap.
fn unsigned(lane: f64) -> u64 {
    if lane < 0.0 { lane as i64 as u64 } else { lane as u64 }
}

/// Rounds once. By way of a `float32` that is rounded to odd, so that the second rounding cannot make a tie of what was
/// none.
pub(super) fn half_of(lane: f64) -> f16 {
    let nearest = lane as f32;
    let back = f64::from(nearest);
    if back == lane || !nearest.is_finite() {
        return f16::from_f32(nearest);
    }
    let bits = nearest.to_bits();
    let towards_zero = if back.abs() > lane.abs() { bits - 1 } else { bits };
    f16::from_f32(f32::from_bits(towards_zero | 1))
}

/// Casts every element. `from` and `to` have the same number of elements.
///
/// # Errors
/// The first element that cannot be represented.
pub(super) fn cast((from_type, from): (NumberType, &[u8]), (to_type, to): (NumberType, &mut [u8])) -> Result<()> {
    let wraps = from_type.is_integer() && to_type.is_integer() && from_type.size() == to_type.size();
    if wraps || (from_type == to_type && from_type != NumberType::Bool) {
        to.copy_from_slice(from);
        return Ok(());
    }
    let blocks = from.chunks(BLOCK * from_type.size()).zip(to.chunks_mut(BLOCK * to_type.size()));
    blocks.enumerate().try_for_each(|(index, (from, to))| {
        let result = vectorized(BlockCast { from: (from_type, from), to: (to_type, to) });
        result.map_err(|error| error.after_elements((index * BLOCK) as u64))
    })
}

/// A cast of up to [`BLOCK`] elements.
struct BlockCast<'a> {
    from: (NumberType, &'a [u8]),
    to: (NumberType, &'a mut [u8]),
}

impl Loop for BlockCast<'_> {
    type Output = Result<()>;

    #[inline(always)] // so that it is compiled for each tier
    fn run(self) -> Result<()> {
        let ((from_type, from), (to_type, to)) = (self.from, self.to);
        let count = from.len() / from_type.size();
        if from_type.is_float() {
            let mut lanes = [0.0; BLOCK];
            from_type.load_floats(from, &mut lanes);
            return to_type.store_floats(lanes.get(..count).unwrap_or_default(), to);
        }
        let mut lanes = [0; BLOCK];
        from_type.load_integers(from, &mut lanes);
        to_type.store_integers(lanes.get(..count).unwrap_or_default(), from_type.is_signed(), to);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{FLOAT64, FloatId, FloatValue, Rounded, Rounding};

    /// The crate's own definition of a format, for finite numbers.
    fn rounded_to_half(lane: f64) -> u16 {
        let format = FloatId::Float16.format();
        let FloatValue::Finite(number) = FLOAT64.value(lane.to_bits()) else { panic!("{lane}") };
        match format.round(&number, Rounding::NearestEven) {
            Rounded::Bits(bits) => bits as u16,
            _ => 0x7C00 | (u16::from(lane.is_sign_negative()) << 15),
        }
    }

    #[test]
    fn a_float64_becomes_a_half_by_one_rounding() {
        for pattern in 0..0x7C00_u16 {
            let low = f16::from_bits(pattern).to_f64();
            let high = if pattern == 0x7BFF { 65536.0 } else { f16::from_bits(pattern + 1).to_f64() };
            let middle = (low + high) / 2.0;
            for lane in [low, middle, middle.next_up(), middle.next_down(), high.next_down(), low.next_up()] {
                assert_eq!(half_of(lane).to_bits(), rounded_to_half(lane), "{lane:e}");
                assert_eq!(half_of(-lane).to_bits(), rounded_to_half(-lane), "-{lane:e}");
            }
        }
        assert_eq!(half_of(1e300).to_bits(), 0x7C00);
        assert_eq!(half_of(f64::MIN_POSITIVE).to_bits(), 0);
        assert_eq!(half_of(5e-324).to_bits(), 0);
    }

    #[test]
    fn names_and_codes_are_those_of_numpy() {
        for (number, name, code) in NAMES {
            for text in [name.to_owned(), code.to_owned(), format!("<{code}"), format!("|{code}"), format!("={code}")] {
                assert_eq!(NumberType::from_json("dtype", &text.as_str().into()), Ok(number), "{text}");
            }
            let big = NumberType::from_json("dtype", &format!(">{code}").into());
            assert_eq!(big.is_ok(), number.size() == 1, "{code}");
            assert_eq!(NumberType::of(&number.data_type().unwrap()), Some(number));
        }
        for (alias, number) in ALIASES {
            assert_eq!(NumberType::from_json("dtype", &alias.into()), Ok(number), "{alias}");
        }
        assert_eq!(NumberType::from_json("dtype", &"<f".into()), Ok(NumberType::F32));
        assert!(NumberType::from_json("dtype", &">d".into()).is_err());
        for text in ["c8", "int4", "<float32", "<float", "l", "long", "M8[ns]", "O", ""] {
            assert!(NumberType::from_json("dtype", &text.into()).is_err(), "{text}");
        }
    }
}

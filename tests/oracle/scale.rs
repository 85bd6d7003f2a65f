//! `scale_offset`: each step exactly, then rounded to the type.

use crate::cast::nearest;
use crate::number::{Number, TYPES, Type};
use crate::sample::{Random, patterns};
use crate::{Image, Images, check, count};
use num_rational::BigRational;
use num_traits::{Signed, Zero};
use zcodec::chain::Chain;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operation {
    Subtract,
    Multiply,
    Divide,
    Add,
}

/// An operand as metadata has it, and its pattern.
#[derive(Debug, Clone)]
struct Operand {
    json: String,
    pattern: u64,
}

/// The pattern of a result, if there is one.
fn apply(data_type: &Type, operation: Operation, element: u64, operand: u64) -> Option<u64> {
    let Number::Finite { is_negative: sign, magnitude } = data_type.number(operand) else { unreachable!() };
    let is_product = matches!(operation, Operation::Multiply | Operation::Divide);
    let (is_negative, element_magnitude) = match data_type.number(element) {
        Number::Nan => return Some(element),
        Number::Infinity { is_negative } => {
            let is_negative = is_negative != (is_product && sign);
            return data_type.infinity().map(|infinity| infinity | if is_negative { data_type.sign_bit() } else { 0 });
        }
        Number::Finite { is_negative, magnitude } => (is_negative, magnitude),
    };
    let with_sign = |magnitude: BigRational, is_negative: bool| if is_negative { -magnitude } else { magnitude };
    let sign = sign != (operation == Operation::Subtract);
    let exact = match operation {
        Operation::Multiply => with_sign(element_magnitude * magnitude, is_negative != sign),
        Operation::Divide => with_sign(element_magnitude / magnitude, is_negative != sign),
        Operation::Subtract | Operation::Add => with_sign(element_magnitude, is_negative) + with_sign(magnitude, sign),
    };
    if data_type.is_integer() {
        let (least, most) = data_type.range();
        let value = exact.is_integer().then(|| exact.to_integer()).and_then(|value| i128::try_from(value).ok())?;
        return (least..=most).contains(&value).then_some(value as u64 & data_type.mask());
    }
    // IEEE 754-2019, clause 6.3: a sum that is exactly 0 is +0, but of two zeros of one sign.
    let is_negative = match exact.is_zero() {
        false => exact.is_negative(),
        true if is_product => is_negative != sign,
        true => is_negative && sign,
    };
    nearest(data_type, &exact, is_negative)
}

fn image(data_type: &Type, steps: &[(Operation, &Option<Operand>)], element: u64) -> Image {
    let mut result = element;
    let mut is_changed = false;
    for (operation, operand) in steps {
        let Some(operand) = operand else { continue };
        match apply(data_type, *operation, result, operand.pattern) {
            Some(next) => result = next,
            None => return Image::None,
        }
        is_changed = true;
    }
    if is_changed && data_type.number(result) == Number::Nan { Image::AnyNan } else { Image::Bits(result) }
}

/// No operand, numbers in decimal, numbers that matter, any finite number.
fn operand(data_type: &Type, random: &mut Random) -> Option<Operand> {
    let decimals = [(0, 1), (1, 1), (2, 1), (3, 1), (-1, 1), (-2, 1), (5, 1), (1, 10), (-7, 4), (1, 1000), (100, 1)];
    let decimal = |(numerator, denominator): (i64, i64)| -> Option<Operand> {
        let value = BigRational::new(numerator.into(), denominator.into());
        let json =
            if denominator == 1 { numerator.to_string() } else { format!("{}", numerator as f64 / denominator as f64) };
        let pattern = if data_type.is_integer() {
            let (least, most) = data_type.range();
            let value = i128::from(numerator);
            (denominator == 1 && (least..=most).contains(&value)).then_some(value as u64 & data_type.mask())
        } else {
            nearest(data_type, &value, value.is_negative())
        };
        pattern.map(|pattern| Operand { json, pattern })
    };
    let exact = |pattern: u64| Some(Operand { json: data_type.json(pattern), pattern });
    let is_finite = |pattern: &u64| matches!(data_type.number(*pattern), Number::Finite { .. });
    match random.below(8) {
        0 => None,
        1..=4 => decimal(random.choice(&decimals)),
        5 | 6 => exact(random.word() & data_type.mask()).filter(|operand| is_finite(&operand.pattern)),
        _ => {
            let special = [0, 1, data_type.last() & data_type.mask(), data_type.sign_bit(), data_type.sign_bit() | 1];
            exact(random.choice(&special)).filter(|operand| is_finite(&operand.pattern))
        }
    }
}

fn new_chain(data_type: &Type, members: &[String], fill_value: u64) -> zcodec::Result<Chain> {
    let codecs = format!(r#"[{{"name":"scale_offset","configuration":{{{}}}}}]"#, members.join(","));
    let fill_value = data_type.json(fill_value);
    let input = format!(r#"{{"data_type":"{}","shape":[0],"fill_value":{fill_value}}}"#, data_type.name);
    Chain::new(codecs.as_bytes(), Some(input.as_bytes()))
}

/// Elements near everything, and those whose result is near 0.
fn elements(data_type: &Type, offset: &Option<Operand>, random: &mut Random) -> Vec<u64> {
    let mut elements = patterns(data_type, data_type, 16, random);
    if let Some(offset) = offset {
        let near = |step: u64| offset.pattern.wrapping_add(step).wrapping_sub(8) & data_type.mask();
        elements.extend((0..16).map(near));
        elements.extend((0..16).map(|step| near(step) ^ data_type.sign_bit()));
    }
    // Moderate exponents, where neither over- nor underflow is near.
    let middle = data_type.last() / 2;
    elements.extend((0..16).map(|_| (middle + random.below(middle / 4 + 1)) & data_type.mask()));
    elements
}

fn is_zero(data_type: &Type, pattern: u64) -> bool {
    matches!(data_type.number(pattern), Number::Finite { magnitude, .. } if magnitude.is_zero())
}

#[test]
fn each_step_is_rounded_to_the_type_and_a_fill_value_has_an_image() {
    let mut random = Random(count() as u64);
    let (mut accepted, mut refused) = (0, 0);
    for data_type in &TYPES {
        for _ in 0..2 * count() {
            let (offset, scale) = (operand(data_type, &mut random), operand(data_type, &mut random));
            let members: Vec<String> = [("offset", &offset), ("scale", &scale)]
                .iter()
                .filter_map(|(name, operand)| Some(format!(r#""{name}":{}"#, operand.as_ref()?.json)))
                .collect();
            let what = format!("{} with {}", data_type.name, members.join(","));
            if scale.as_ref().is_some_and(|scale| is_zero(data_type, scale.pattern)) {
                assert!(new_chain(data_type, &members, 1).is_err(), "{what}");
                continue;
            }
            let encode = |element| {
                (element, image(data_type, &[(Operation::Subtract, &offset), (Operation::Multiply, &scale)], element))
            };
            let decode = |element| {
                (element, image(data_type, &[(Operation::Divide, &scale), (Operation::Add, &offset)], element))
            };
            let elements = elements(data_type, &offset, &mut random);
            let mut chain = None;
            for fill_value in elements.iter().take(8).copied().chain(offset.as_ref().map(|offset| offset.pattern)) {
                let result = new_chain(data_type, &members, fill_value);
                let has_image = encode(fill_value).1 != Image::None;
                assert_eq!(result.is_ok(), has_image, "{fill_value:#x} to fill {what}: {result:?}");
                refused += u32::from(!has_image);
                chain = result.ok().or(chain);
            }
            let Some(chain) = chain else { continue };
            accepted += 1;
            let images = |image: &dyn Fn(u64) -> (u64, Image)| elements.iter().copied().map(image).collect::<Images>();
            check(&chain, data_type, data_type, &images(&encode), &images(&decode), &what);
        }
    }
    assert!(accepted > 500 && refused > 100, "{accepted} accepted, {refused} refused");
}

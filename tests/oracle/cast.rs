//! `cast_value`: each image by exact comparison.

use crate::number::{Number, Place, Rest, TYPES, Type};
use crate::sample::{Random, patterns};
use crate::{Image, Images, check, count};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use serde_json::{Value, json};
use zcodec::chain::Chain;

const ROUNDINGS: [&str; 5] = ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"];

/// A member that is not set is an error.
const POLICIES: [Option<&str>; 3] = [None, Some("clamp"), Some("wrap")];

#[derive(Clone, Copy)]
struct Rules {
    rounding: &'static str,
    out_of_range: Option<&'static str>,
}

/// An element, and where its magnitude lies in the target.
struct Element {
    pattern: u64,
    number: Number,
    place: Option<Place>,
}

fn elements(source: &Type, target: &Type, patterns: impl IntoIterator<Item = u64>) -> Vec<Element> {
    let element = |pattern| {
        let number = source.number(pattern);
        let place = match &number {
            Number::Finite { magnitude, .. } => Some(target.place(magnitude)),
            _ => None,
        };
        Element { pattern, number, place }
    };
    patterns.into_iter().map(element).collect()
}

impl Rules {
    fn image(self, target: &Type, element: &Element) -> Image {
        match (&element.number, &element.place) {
            (Number::Finite { is_negative, .. }, Some(place)) if target.is_integer() => {
                self.integer(target, *is_negative, place)
            }
            (Number::Finite { is_negative, .. }, Some(place)) => self.float(target, *is_negative, place),
            (Number::Infinity { is_negative }, _) => {
                target.infinity().map_or(Image::None, |infinity| Image::Bits(signed(target, *is_negative, infinity)))
            }
            _ => target.nan().map_or(Image::None, |_| Image::AnyNan),
        }
    }

    fn integer(self, target: &Type, is_negative: bool, place: &Place) -> Image {
        let magnitude = self.round(target, is_negative, place).expect("every number is between two integers");
        let value = if is_negative { -magnitude } else { magnitude };
        let (least, most) = target.range();
        let image = match self.out_of_range {
            _ if BigInt::from(least) <= value && value <= BigInt::from(most) => value,
            None => return Image::None,
            Some("clamp") => if is_negative { least } else { most }.into(),
            _ => value,
        };
        let modulus = BigInt::one() << target.bits;
        let residue = ((image % &modulus) + &modulus) % &modulus;
        Image::Bits(residue.try_into().unwrap())
    }

    fn float(self, target: &Type, is_negative: bool, place: &Place) -> Image {
        let magnitude = self.round(target, is_negative, place);
        let is_under = !target.has_zero()
            && (is_negative || *place == Place::Under || magnitude.as_ref().is_some_and(Signed::is_negative));
        match magnitude.and_then(|magnitude| u64::try_from(magnitude).ok()) {
            Some(magnitude) if magnitude <= target.last() && !is_under => {
                Image::Bits(signed(target, is_negative, magnitude))
            }
            _ if self.out_of_range != Some("clamp") => Image::None,
            _ if is_under => Image::Bits(0),
            _ => Image::Bits(signed(target, is_negative, target.infinity().unwrap_or(target.last()))),
        }
    }

    /// The number of the magnitude; none far outside.
    fn round(self, target: &Type, is_negative: bool, place: &Place) -> Option<BigInt> {
        let Place::Between { below, rest } = place else { return None };
        let is_up = match self.rounding {
            _ if *rest == Rest::Zero => false,
            "towards-zero" => false,
            "towards-positive" => !is_negative,
            "towards-negative" => is_negative,
            // With one digit neither is even: the larger of the two.
            "nearest-even" if *rest == Rest::Half => below.bit(0) || !target.has_zero(),
            _ => matches!(rest, Rest::Half | Rest::AboveHalf),
        };
        Some(below + i32::from(is_up))
    }
}

/// The pattern of a float.
fn signed(target: &Type, is_negative: bool, magnitude: u64) -> u64 {
    let has_sign = is_negative && (magnitude != 0 || target.has_negative_zero());
    magnitude | if has_sign { target.sign_bit() } else { 0 }
}

/// The rules of `scale_offset`: round to nearest even, and refuse everything out of range.
pub fn nearest(target: &Type, number: &BigRational, is_negative: bool) -> Option<u64> {
    let rules = Rules { rounding: "nearest-even", out_of_range: None };
    match rules.float(target, is_negative, &target.place(&number.abs())) {
        Image::Bits(pattern) => Some(pattern),
        _ => None,
    }
}

fn codec(target: &Type, rules: Rules, map: &Value) -> String {
    let mut members = json!({"data_type": target.name, "rounding": rules.rounding});
    if let Some(policy) = rules.out_of_range {
        members["out_of_range"] = policy.into();
    }
    if !map.is_null() {
        members["scalar_map"] = map.clone();
    }
    json!([{"name": "cast_value", "configuration": members}]).to_string()
}

fn new_chain(source: &Type, target: &Type, rules: Rules, map: &Value, fill_value: u64) -> zcodec::Result<Chain> {
    let fill_value = source.json(fill_value);
    let input = format!(r#"{{"data_type":"{}","shape":[0],"fill_value":{fill_value}}}"#, source.name);
    Chain::new(codec(target, rules, map).as_bytes(), Some(input.as_bytes()))
}

fn all_rules(target: &Type) -> impl Iterator<Item = Rules> {
    let policies = &POLICIES[..if target.is_integer() { 3 } else { 2 }];
    policies.iter().flat_map(|out_of_range| ROUNDINGS.map(|rounding| Rules { rounding, out_of_range: *out_of_range }))
}

/// The pattern of 1, which every type has.
fn one(data_type: &Type) -> u64 {
    let number = Number::finite(&BigRational::one());
    let find = |pattern: &u64| data_type.number(*pattern) == number;
    match data_type.place(&BigRational::one()) {
        Place::Between { below, .. } => Some(u64::try_from(below).unwrap()).filter(find).expect("1 is exact"),
        _ => unreachable!(),
    }
}

fn every_pair_is_cast_exactly(sources: &[Type]) {
    let mut random = Random(count() as u64);
    for source in sources {
        for target in &TYPES {
            let forth = elements(source, target, patterns(source, target, count(), &mut random));
            let back = elements(target, source, patterns(target, source, count(), &mut random));
            for rules in all_rules(target) {
                let what = format!("{} as {}", source.name, codec(target, rules, &Value::Null));
                let chain = new_chain(source, target, rules, &Value::Null, one(source)).expect(&what);
                let images = |to: &Type, elements: &[Element]| -> Images {
                    elements.iter().map(|element| (element.pattern, rules.image(to, element))).collect()
                };
                check(&chain, source, target, &images(target, &forth), &images(source, &back), &what);
            }
        }
    }
}

#[test]
fn integers_are_cast_exactly() {
    every_pair_is_cast_exactly(&TYPES[..12]);
}

#[test]
fn floats_of_up_to_8_bits_are_cast_exactly() {
    every_pair_is_cast_exactly(&TYPES[12..23]);
}

#[test]
fn floats_of_more_bits_are_cast_exactly() {
    every_pair_is_cast_exactly(&TYPES[23..]);
}

/// Keys and images of one direction.
type Entries = Vec<(u64, u64)>;

/// The first entry whose key is the element: by value, or as a NaN. "NaN" is every NaN, another pattern itself alone.
fn mapped(source: &Type, entries: &Entries, pattern: u64) -> Option<u64> {
    let matches = |key: u64| match (source.number(key), source.number(pattern)) {
        (Number::Nan, Number::Nan) => Some(key) == source.nan() || key == pattern,
        (Number::Finite { magnitude: a, .. }, Number::Finite { magnitude: b, .. }) if a.is_zero() => b.is_zero(),
        (a, b) => a == b && a != Number::Nan,
    };
    entries.iter().find(|(key, _)| matches(*key)).map(|(_, image)| *image)
}

fn image_by_map(source: &Type, target: &Type, rules: Rules, entries: &Entries, pattern: u64) -> Image {
    match mapped(source, entries, pattern) {
        Some(image) => Image::Bits(image),
        None => rules.image(target, &elements(source, target, [pattern])[0]),
    }
}

fn some_entries(source: &Type, keys: &[u64], images: &[u64], random: &mut Random) -> Entries {
    let special = [Some(0), Some(source.sign_bit()), source.nan(), source.infinity(), source.nan().map(|nan| nan | 1)];
    let mut entries: Entries = (0..random.below(6)).map(|_| (random.choice(keys), random.choice(images))).collect();
    for key in special.into_iter().flatten() {
        if random.below(3) == 0 {
            entries.insert(random.below(entries.len() as u64 + 1) as usize, (key, random.choice(images)));
        }
    }
    entries
}

/// The list in JSON, with "NaN" by its name.
fn list(source: &Type, target: &Type, entries: &Entries) -> Value {
    let scalar = |data_type: &Type, pattern: u64| match data_type.nan() {
        Some(nan) if nan == pattern => json!("NaN"),
        _ => serde_json::from_str(&data_type.json(pattern)).unwrap(),
    };
    entries.iter().map(|(key, image)| json!([scalar(source, *key), scalar(target, *image)])).collect()
}

#[test]
fn a_map_goes_before_the_cast_and_a_fill_value_must_survive_both() {
    let mut random = Random(count() as u64);
    let (mut accepted, mut refused) = (0, 0);
    for source in &TYPES {
        for target in &TYPES {
            let rules: Vec<Rules> = all_rules(target).collect();
            let (decoded, encoded) =
                (patterns(source, target, 16, &mut random), patterns(target, source, 16, &mut random));
            for _ in 0..count().div_ceil(4) {
                let rules = random.choice(&rules);
                let encode = some_entries(source, &decoded, &encoded, &mut random);
                let decode = some_entries(target, &encoded, &decoded, &mut random);
                let map = json!({"encode": list(source, target, &encode), "decode": list(target, source, &decode)});
                let what = format!("{} as {}", source.name, codec(target, rules, &map));
                let forth = |pattern| (pattern, image_by_map(source, target, rules, &encode, pattern));
                let back = |pattern| (pattern, image_by_map(target, source, rules, &decode, pattern));

                let mut elements = decoded.clone();
                elements.retain(|_| random.below(4) == 0);
                elements.extend(encode.iter().map(|entry| entry.0));
                let number = |pattern| source.number(pattern);
                let survives = |fill_value: u64| match forth(fill_value).1 {
                    Image::Bits(image) => match back(image).1 {
                        Image::Bits(again) => mapped(source, &vec![(fill_value, 0)], again).is_some(),
                        Image::AnyNan => number(fill_value) == Number::Nan,
                        Image::None => false,
                    },
                    _ => false,
                };
                // Of a NaN that no map knows, which one it becomes is open.
                let fill_values = elements.iter().copied().filter(|pattern| number(*pattern) != Number::Nan);
                let mut chain = None;
                for fill_value in fill_values.take(8).chain([one(source)]) {
                    let result = new_chain(source, target, rules, &map, fill_value);
                    assert_eq!(result.is_ok(), survives(fill_value), "{fill_value:#x} to fill {what}: {result:?}");
                    refused += u32::from(result.is_err());
                    chain = result.ok().or(chain);
                }
                let Some(chain) = chain else { continue };
                accepted += 1;
                let images = elements.iter().copied().map(forth).collect();
                let mut elements = encoded.clone();
                elements.retain(|_| random.below(4) == 0);
                elements.extend(decode.iter().map(|entry| entry.0));
                check(&chain, source, target, &images, &elements.iter().copied().map(back).collect(), &what);
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

//! The configuration, and what it means for a field: the four parameters of zfp's expert mode.
//!
//! zfp documentation, "Compression modes". Values are taken as the C library's `zfp_stream_set_*` functions take them,
//! and refused where those functions fail or where nothing could come back.

use crate::error::{Error, Result};
use crate::json::{Configuration, integer, one_of, shown};
use serde_json::{Map, Value};
use zfp_rs::{ZFP_MAX_BITS, ZFP_MAX_PREC, ZFP_MIN_EXP, ZfpConfig, ZfpDimensionality, ZfpScalarType};

/// Bits of a word of the stream.
pub(super) const WORD_BITS: u64 = 64;

const MODES: [&str; 5] = ["reversible", "expert", "fixed_accuracy", "fixed_rate", "fixed_precision"];

/// A mode with its parameters.
#[derive(Debug, Clone)]
pub(super) enum Mode {
    Reversible,
    Expert { minbits: u32, maxbits: u32, maxprec: u32, minexp: i32 },
    FixedAccuracy { tolerance: f64, json: Value },
    FixedRate { rate: f64, json: Value },
    FixedPrecision { precision: u64 },
}

impl Mode {
    pub(super) fn parse(mut configuration: Configuration) -> Result<Self> {
        let mode = configuration.required("mode")?;
        let mode = match MODES[one_of("mode", &mode, &MODES)?] {
            "reversible" => Self::Reversible,
            "expert" => Self::parse_expert(&mut configuration)?,
            "fixed_accuracy" => {
                let json = configuration.required("tolerance")?;
                Self::FixedAccuracy { tolerance: number("tolerance", &json, |tolerance| tolerance >= 0.0)?, json }
            }
            "fixed_rate" => {
                let json = configuration.required("rate")?;
                Self::FixedRate { rate: number("rate", &json, |rate| rate > 0.0)?, json }
            }
            _ => {
                let json = configuration.required("precision")?;
                Self::FixedPrecision { precision: integer("precision", &json, 0, u64::MAX.into())? as u64 }
            }
        };
        configuration.finish()?;
        Ok(mode)
    }

    fn parse_expert(configuration: &mut Configuration) -> Result<Self> {
        let mut member = |name, least: i128, most: i128| integer(name, &configuration.required(name)?, least, most);
        let minbits = member("minbits", 0, u32::MAX.into())? as u32;
        let maxbits = member("maxbits", 0, u32::MAX.into())? as u32;
        let maxprec = member("maxprec", 1, ZFP_MAX_PREC.into())? as u32;
        let minexp = member("minexp", i32::MIN.into(), i32::MAX.into())? as i32;
        if minbits > maxbits {
            return Err(Error::metadata(format!("minbits is {minbits}, over maxbits, which is {maxbits}")));
        }
        Ok(Self::Expert { minbits, maxbits, maxprec, minexp })
    }

    pub(super) fn to_json(&self) -> Map<String, Value> {
        let (name, members) = match self {
            Self::Reversible => ("reversible", vec![]),
            Self::Expert { minbits, maxbits, maxprec, minexp } => (
                "expert",
                vec![
                    ("minbits", (*minbits).into()),
                    ("maxbits", (*maxbits).into()),
                    ("maxprec", (*maxprec).into()),
                    ("minexp", (*minexp).into()),
                ],
            ),
            Self::FixedAccuracy { json, .. } => ("fixed_accuracy", vec![("tolerance", json.clone())]),
            Self::FixedRate { json, .. } => ("fixed_rate", vec![("rate", json.clone())]),
            Self::FixedPrecision { precision } => ("fixed_precision", vec![("precision", (*precision).into())]),
        };
        [("mode", name.into())].into_iter().chain(members).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    pub(super) fn parameters(&self, scalar: ZfpScalarType, dims: ZfpDimensionality) -> Result<Parameters> {
        let config = match self {
            Self::Reversible => ZfpConfig::reversible(),
            Self::Expert { minbits, maxbits, maxprec, minexp } => {
                let maxbits = usable_maxbits(*maxbits, scalar, *minexp)?;
                expert(*minbits, maxbits.max(*minbits), *maxprec, *minexp)?
            }
            Self::FixedAccuracy { tolerance, .. } => ZfpConfig::fixed_accuracy(*tolerance),
            Self::FixedRate { rate, .. } => fixed_rate(*rate, scalar, dims)?,
            Self::FixedPrecision { precision } => {
                ZfpConfig::fixed_precision((*precision).min(ZFP_MAX_PREC.into()) as u32)
            }
        };
        Ok(Parameters { config, block_bits: block_bits(&config, scalar, dims), mode: self.name() })
    }

    /// The parameters of a writer that computes a fixed rate as if every field had three dimensions.
    pub(super) fn foreign_parameters(&self, scalar: ZfpScalarType, dims: ZfpDimensionality) -> Option<Parameters> {
        let Self::FixedRate { rate, .. } = self else { return None };
        let config = fixed_rate(*rate, scalar, ZfpDimensionality::D3).ok()?;
        Some(Parameters { config, block_bits: block_bits(&config, scalar, dims), mode: self.name() })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Reversible => "reversible",
            Self::Expert { .. } => "expert",
            Self::FixedAccuracy { .. } => "fixed_accuracy",
            Self::FixedRate { .. } => "fixed_rate",
            Self::FixedPrecision { .. } => "fixed_precision",
        }
    }
}

fn number(member: &str, json: &Value, is_valid: impl Fn(f64) -> bool) -> Result<f64> {
    json.as_f64().filter(|number| number.is_finite() && is_valid(*number)).ok_or_else(|| {
        let least = if is_valid(0.0) { "of 0 or more" } else { "above 0" };
        Error::metadata(format!("{member} is {}, expected a number {least} that float64 can hold", shown(json)))
    })
}

fn expert(minbits: u32, maxbits: u32, maxprec: u32, minexp: i32) -> Result<ZfpConfig> {
    ZfpConfig::expert(minbits, maxbits, maxprec, minexp)
        .map_err(|error| Error::metadata(format!("minbits, maxbits, maxprec and minexp do not fit together: {error}")))
}

/// `zfp_stream_set_rate`: bits per value, rounded to whole bits per block.
fn fixed_rate(rate: f64, scalar: ZfpScalarType, dims: ZfpDimensionality) -> Result<ZfpConfig> {
    let value_count = dims.block_size();
    let rounded = (value_count as f64 * rate + 0.5).floor();
    let bits = if rounded <= f64::from(u32::MAX) { (rounded as u32).max(header_bits(scalar, ZFP_MIN_EXP)) } else { 0 };
    if bits == 0 {
        return Err(Error::metadata(format!(
            "rate is {rate:?}, which makes {rounded:?} bits of a block of {value_count} values, expected 1 to {}",
            u32::MAX
        )));
    }
    expert(bits, bits, ZFP_MAX_PREC, ZFP_MIN_EXP)
}

/// The bits before the first coefficient, where a block has the most of them.
fn header_bits(scalar: ZfpScalarType, minexp: i32) -> u32 {
    let is_reversible = minexp < ZFP_MIN_EXP;
    match scalar {
        ZfpScalarType::I32 => 5 * u32::from(is_reversible),
        ZfpScalarType::I64 => 6 * u32::from(is_reversible),
        ZfpScalarType::F32 => 9 + 6 * u32::from(is_reversible),
        ZfpScalarType::F64 => 12 + 7 * u32::from(is_reversible),
    }
}

/// How the C library treats `maxbits` below the size of the block header: the number of bits left for the coefficients
/// wraps around, so there is no limit. Only a reversible block of floats has a header of two lengths; a `maxbits`
/// between them is refused.
fn usable_maxbits(maxbits: u32, scalar: ZfpScalarType, minexp: i32) -> Result<u32> {
    if maxbits >= header_bits(scalar, minexp) {
        return Ok(maxbits);
    }
    let shortest = match scalar {
        ZfpScalarType::F32 if minexp < ZFP_MIN_EXP => 7,
        ZfpScalarType::F64 if minexp < ZFP_MIN_EXP => 8,
        _ => header_bits(scalar, minexp),
    };
    if maxbits < shortest {
        return Ok(ZFP_MAX_BITS);
    }
    Err(Error::unsupported(format!(
        "maxbits is {maxbits}, but the header of a reversible block of {scalar:?} takes {shortest} to {} bits",
        header_bits(scalar, minexp)
    )))
}

/// The most bits that a block can take: `zfp_stream_maximum_size`, where `maxbits` holds a header.
fn block_bits(config: &ZfpConfig, scalar: ZfpScalarType, dims: ZfpDimensionality) -> u32 {
    let header = header_bits(scalar, config.min_exp());
    let value_count = dims.block_size() as u32;
    let scalar_bits = match scalar {
        ZfpScalarType::I32 | ZfpScalarType::F32 => 32,
        ZfpScalarType::I64 | ZfpScalarType::F64 => 64,
    };
    let most = header + value_count - 1 + value_count * config.max_prec().min(scalar_bits);
    most.min(config.max_bits()).max(header).max(config.min_bits())
}

/// A mode, applied to a field.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    pub(super) config: ZfpConfig,
    /// The most bits that a block can take.
    pub(super) block_bits: u32,
    /// For messages.
    pub(super) mode: &'static str,
}

impl Parameters {
    /// Whether every value comes back.
    pub(super) fn is_lossless(&self) -> bool {
        self.config.min_exp() < ZFP_MIN_EXP
    }

    /// Whether every block takes the same number of bits, also in damaged streams. A reversible block says by itself
    /// how many bit planes it has, whatever `maxprec` is.
    pub(super) fn has_fixed_size(&self) -> bool {
        let config = &self.config;
        let is_bounded =
            !self.is_lossless() || config.min_bits() == config.max_bits() || config.max_prec() == ZFP_MAX_PREC;
        config.min_bits() == self.block_bits && is_bounded
    }

    /// The largest size in bytes of this many blocks: the words that all their bits fill.
    pub(super) fn encoded_bound(&self, block_count: usize) -> Result<usize> {
        self.encoded_bound_after(0, block_count)
    }

    /// The same after this many bits.
    pub(super) fn encoded_bound_after(&self, bit_count: u64, block_count: usize) -> Result<usize> {
        (block_count as u64)
            .checked_mul(self.block_bits.into())
            .and_then(|bits| bits.checked_add(bit_count))
            .map(|bits| bits.div_ceil(WORD_BITS) as u128 * 8)
            .filter(|size| *size <= isize::MAX as u128)
            .map(|size| size as usize)
            .ok_or_else(|| {
                Error::metadata(format!(
                    "{block_count} blocks of up to {} bits, as mode {} allows, fit no address space",
                    self.block_bits, self.mode
                ))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;
    use serde_json::json;

    const SCALARS: [ZfpScalarType; 4] =
        [ZfpScalarType::I32, ZfpScalarType::I64, ZfpScalarType::F32, ZfpScalarType::F64];
    const DIMENSIONS: [ZfpDimensionality; 4] =
        [ZfpDimensionality::D1, ZfpDimensionality::D2, ZfpDimensionality::D3, ZfpDimensionality::D4];

    fn parse(json: &Value) -> Result<Mode> {
        Mode::parse(Configuration::new(json.as_object().cloned()))
    }

    #[test]
    fn the_configuration_comes_back_as_it_was() {
        for json in [
            json!({"mode": "reversible"}),
            json!({"mode": "fixed_accuracy", "tolerance": 0.05}),
            json!({"mode": "fixed_accuracy", "tolerance": 0}),
            json!({"mode": "fixed_rate", "rate": 8}),
            json!({"mode": "fixed_precision", "precision": 100}),
            json!({"mode": "expert", "minbits": 0, "maxbits": 4294967295_u32, "maxprec": 64, "minexp": -2147483648}),
        ] {
            assert_eq!(Value::from(parse(&json).unwrap().to_json()), json);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let expert = |minbits: i64, maxbits: i64, maxprec: i64| json!({"mode": "expert", "minbits": minbits, "maxbits": maxbits, "maxprec": maxprec, "minexp": 0});
        for (json, member) in [
            (json!({}), "mode is missing"),
            (json!({"mode": "lossless"}), "mode is \"lossless\""),
            (json!({"mode": "reversible", "rate": 8}), "\"rate\": 8"),
            (json!({"mode": "fixed_rate"}), "rate is missing"),
            (json!({"mode": "fixed_rate", "rate": 0}), "rate is 0, expected a number above 0 that float64 can hold"),
            (json!({"mode": "fixed_rate", "rate": "8"}), "rate is \"8\""),
            (
                json!({"mode": "fixed_accuracy", "tolerance": -1}),
                "tolerance is -1, expected a number of 0 or more that float64 can hold",
            ),
            (json!({"mode": "fixed_precision", "precision": 1.5}), "precision is 1.5"),
            (expert(2, 1, 20), "minbits is 2, over maxbits, which is 1"),
            (expert(0, 1, 0), "maxprec is 0"),
            (expert(0, 1, 65), "maxprec is 65"),
            (expert(-1, 1, 20), "minbits is -1"),
        ] {
            let error = parse(&json).unwrap_err();
            assert_eq!(error.status(), Status::InvalidMetadata, "{json}");
            assert!(error.to_string().contains(member), "{json}: {error}");
        }
    }

    #[test]
    fn rates_are_bits_of_the_fields_own_blocks() {
        for (rate, scalar, dims, bits) in [
            (8.0, ZfpScalarType::F32, ZfpDimensionality::D1, 32),
            (8.0, ZfpScalarType::F32, ZfpDimensionality::D3, 512),
            (3.25, ZfpScalarType::I64, ZfpDimensionality::D4, 832),
            (1e-9, ZfpScalarType::F32, ZfpDimensionality::D2, 9),
            (1e-9, ZfpScalarType::F64, ZfpDimensionality::D2, 12),
            (100.0, ZfpScalarType::I32, ZfpDimensionality::D4, 25600),
        ] {
            let config = fixed_rate(rate, scalar, dims).unwrap();
            assert_eq!((config.min_bits(), config.max_bits()), (bits, bits), "{rate} {scalar:?} {dims:?}");
            assert_eq!(block_bits(&config, scalar, dims), bits, "{rate} {scalar:?} {dims:?}");
        }
        for rate in [1e-9, 1e300] {
            let error = fixed_rate(rate, ZfpScalarType::I32, ZfpDimensionality::D1).unwrap_err();
            assert_eq!(error.status(), Status::InvalidMetadata);
        }
    }

    #[test]
    fn the_bound_is_that_of_zfp_without_its_header() {
        for scalar in SCALARS {
            for dims in DIMENSIONS {
                for config in [
                    ZfpConfig::reversible(),
                    ZfpConfig::fixed_precision(9),
                    ZfpConfig::fixed_accuracy(0.5),
                    ZfpConfig::expert(7, 90, 64, -1075).unwrap(),
                    ZfpConfig::expert(3, 4, 64, 0).unwrap(),
                ] {
                    let sizes: [usize; 4] = std::array::from_fn(|axis| if axis < usize::from(dims) { 12 } else { 0 });
                    let blocks = 3_u64.pow(usize::from(dims) as u32);
                    let ours = blocks * u64::from(block_bits(&config, scalar, dims)) + 148;
                    let theirs = config.maximum_size(scalar, sizes).unwrap() as u64;
                    assert_eq!(ours.div_ceil(64) * 8, theirs, "{scalar:?} {dims:?} {config:?}");
                }
            }
        }
    }

    #[test]
    fn sizes_that_no_memory_holds_are_refused() {
        let mode = parse(&json!({"mode": "fixed_rate", "rate": 1e9})).unwrap();
        let parameters = mode.parameters(ZfpScalarType::F32, ZfpDimensionality::D1).unwrap();
        assert_eq!(parameters.encoded_bound(1).unwrap(), 500_000_000);
        assert!(parameters.encoded_bound(usize::MAX / 4).is_err());
    }

    #[test]
    fn between_the_two_headers_of_a_reversible_block_is_nothing() {
        for (maxbits, scalar, is_usable) in [
            (6, ZfpScalarType::F32, true),
            (7, ZfpScalarType::F32, false),
            (14, ZfpScalarType::F32, false),
            (15, ZfpScalarType::F32, true),
            (7, ZfpScalarType::F64, true),
            (18, ZfpScalarType::F64, false),
            (19, ZfpScalarType::F64, true),
            (0, ZfpScalarType::I32, true),
        ] {
            match usable_maxbits(maxbits, scalar, -1075) {
                Ok(_) => assert!(is_usable, "{maxbits} {scalar:?}"),
                Err(error) => assert!(!is_usable && error.status() == Status::Unsupported, "{maxbits} {scalar:?}"),
            }
        }
    }
}

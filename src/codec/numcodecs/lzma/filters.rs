//! Chains of filters as Python's module `lzma` has them: a list of objects with an `id` and options.

use crate::error::{Error, Result};
use crate::json::{Configuration, integer, shown};
use lzma_rust2::{EncodeMode, FilterConfig, FilterType, LzmaOptions, MfType};
use serde_json::Value;

/// The default preset of liblzma.
pub(super) const DEFAULT_PRESET: u32 = 6;

/// Slower, and a little smaller.
const EXTREME: u32 = 1 << 31;

/// The largest value that liblzma takes.
const MAX_DICTIONARY_SIZE: u32 = 1536 << 20;
const MIN_DICTIONARY_SIZE: u32 = 4096;

const LZMA1: i128 = 0x4000_0000_0000_0001;
const LZMA2: i128 = 0x21;
const DELTA: i128 = 3;

/// The last filter of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coder {
    Lzma1,
    Lzma2,
}

#[derive(Debug, Clone)]
pub(super) struct Filters {
    /// In the order of encoding.
    pub(super) before: Vec<FilterConfig>,
    pub(super) coder: Coder,
    pub(super) options: LzmaOptions,
}

impl Filters {
    pub(super) fn of_preset(preset: u32, is_alone: bool) -> Self {
        let coder = if is_alone { Coder::Lzma1 } else { Coder::Lzma2 };
        Self { before: Vec::new(), coder, options: options_of(preset) }
    }

    pub(super) fn from_json(json: &Value) -> Result<Self> {
        let list = json.as_array().filter(|list| (1..=4).contains(&list.len()));
        let list = list
            .ok_or_else(|| Error::metadata(format!("filters is {}, expected a list of 1 to 4 filters", shown(json))))?;
        let (mut before, mut last) = (Vec::new(), None);
        for (index, filter) in list.iter().enumerate() {
            let place = |error: Error| error.with_context(&format!("filters[{index}]: "));
            if last.is_some() {
                return Err(Error::metadata("filters has a filter after LZMA1 or LZMA2, which must come last"));
            }
            let members = filter.as_object().ok_or_else(|| {
                Error::metadata(format!("filters[{index}] is {}, expected an object with an id", shown(filter)))
            })?;
            let mut members = Configuration::new(Some(members.clone()));
            match Filter::from_members(&mut members).map_err(place)? {
                Filter::Before(filter) => before.push(filter),
                Filter::Last(coder, options) => last = Some((coder, options)),
            }
            members.finish_as(&format!("filters[{index}]"))?;
        }
        if before.len() > 1 {
            return Err(Error::unsupported(format!(
                "filters is {}, but at most one filter before LZMA1 or LZMA2 is supported",
                shown(json)
            )));
        }
        let (coder, options) = last.ok_or_else(|| {
            Error::metadata(format!("filters is {}, expected LZMA1 or LZMA2 at the end", shown(json)))
        })?;
        Ok(Self { before, coder, options })
    }
}

enum Filter {
    Before(FilterConfig),
    Last(Coder, LzmaOptions),
}

impl Filter {
    fn from_members(members: &mut Configuration) -> Result<Self> {
        let id = integer("id", &members.required("id")?, 0, u64::MAX.into())?;
        let filter_type = match id {
            LZMA1 => return Ok(Self::Last(Coder::Lzma1, options_from(members)?)),
            LZMA2 => return Ok(Self::Last(Coder::Lzma2, options_from(members)?)),
            DELTA => {
                let distance = members.optional("dist").map_or(Ok(1), |value| integer("dist", &value, 1, 256))?;
                return Ok(Self::Before(FilterConfig::new_delta(distance as u32)));
            }
            4 => FilterType::BcjX86,
            5 => FilterType::BcjPpc,
            6 => FilterType::BcjIa64,
            7 => FilterType::BcjArm,
            8 => FilterType::BcjArmThumb,
            9 => FilterType::BcjSparc,
            other => return Err(Error::unsupported(format!("id is {other}, which is not a known filter"))),
        };
        let start = members.optional("start_offset");
        let property = start.map_or(Ok(0), |value| integer("start_offset", &value, 0, u32::MAX.into()))? as u32;
        Ok(Self::Before(FilterConfig { filter_type, property }))
    }
}

/// A level from 0 to 9, with the bit for the slower ones.
pub(super) fn preset_from_json(member: &str, value: &Value) -> Result<u32> {
    let preset = integer(member, value, 0, u32::MAX.into())? as u32;
    if preset & !EXTREME <= 9 {
        return Ok(preset);
    }
    Err(Error::metadata(format!("{member} is {}, expected 0 to 9, with or without the bit 2^31", shown(value))))
}

fn options_of(preset: u32) -> LzmaOptions {
    let mut options = LzmaOptions::with_preset(preset & !EXTREME);
    if preset & EXTREME != 0 {
        options.mode = EncodeMode::Normal;
        options.mf = MfType::Bt4;
        options.nice_len = LzmaOptions::NICE_LEN_MAX;
    }
    options
}

/// The options of LZMA1 and LZMA2, each over those of the preset.
fn options_from(members: &mut Configuration) -> Result<LzmaOptions> {
    let preset = members.optional("preset").map(|value| preset_from_json("preset", &value)).transpose()?;
    let mut options = options_of(preset.unwrap_or(DEFAULT_PRESET));
    let mut option = |member: &str, least: u32, most: u32| {
        let value = members.optional(member);
        value.map(|value| integer(member, &value, least.into(), most.into()).map(|value| value as u32)).transpose()
    };
    let set = |place: &mut u32, value: Option<u32>| *place = value.unwrap_or(*place);
    set(&mut options.dict_size, option("dict_size", MIN_DICTIONARY_SIZE, MAX_DICTIONARY_SIZE)?);
    set(&mut options.lc, option("lc", 0, 4)?);
    set(&mut options.lp, option("lp", 0, 4)?);
    set(&mut options.pb, option("pb", 0, 4)?);
    set(
        &mut options.nice_len,
        option("nice_len", 2, LzmaOptions::NICE_LEN_MAX)?.map(|len| len.max(LzmaOptions::NICE_LEN_MIN)),
    );
    if let Some(mode) = option("mode", 1, 2)? {
        options.mode = if mode == 1 { EncodeMode::Fast } else { EncodeMode::Normal };
    }
    // Hash chains are 3 and 4, binary trees 0x12 to 0x14.
    if let Some(finder) = option("mf", 3, 0x14)? {
        options.mf = if finder < 0x10 { MfType::Hc4 } else { MfType::Bt4 };
    }
    if let Some(depth) = option("depth", 0, i32::MAX as u32)? {
        options.depth_limit = depth as i32;
    }
    if options.lc + options.lp > 4 {
        return Err(Error::metadata(format!(
            "lc and lp are {} and {}, expected at most 4 in all",
            options.lc, options.lp
        )));
    }
    Ok(options)
}

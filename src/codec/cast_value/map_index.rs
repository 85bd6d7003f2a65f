//! A scalar map by its keys, so that it may be long: the [`reference`](super::reference) compares with each entry.

use super::reference::{Cast, is_same, value};
use crate::data_type::Component;
use crate::number::FloatValue;
use std::collections::BTreeMap;

/// The scalar map of a cast.
#[derive(Debug)]
pub(super) struct MapIndex {
    source: Component,
    /// What elements of these bits become.
    mapped: BTreeMap<u64, u64>,
    /// What every other NaN becomes.
    every_nan: Option<u64>,
}

impl MapIndex {
    /// Of entries that match the same element, the first wins.
    pub(super) fn new(cast: &Cast) -> Self {
        let source = cast.source;
        let (sign, nan) = match source {
            Component::Float(format) => (format.sign_bit(), format.nan()),
            _ => (0, None),
        };
        let mut index = Self { source, mapped: BTreeMap::new(), every_nan: None };
        for (key, mapped) in &cast.scalar_map {
            if Some(*key) == nan {
                index.every_nan.get_or_insert(*mapped);
            } else if index.find(*key).is_none() {
                index.mapped.insert(*key, *mapped);
                // The other zero is the same value.
                if [*key, key ^ sign].iter().all(|bits| is_same(source, *bits, 0)) {
                    index.mapped.insert(key ^ sign, *mapped);
                }
            }
        }
        index
    }

    /// What an element becomes; `None` if no entry matches it.
    pub(super) fn find(&self, bits: u64) -> Option<u64> {
        let is_nan = || value(self.source, bits) == FloatValue::Nan;
        self.mapped.get(&bits).copied().or_else(|| self.every_nan.filter(|_| is_nan()))
    }
}

//! `numcodecs.jenkins_lookup3`: Bob Jenkins' `hashlittle` of 2006, four bytes at the end, little-endian; the checksum
//! of HDF5's metadata.
//!
//! Specification:
//! [zarr-extensions, `numcodecs.jenkins_lookup3`](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.jenkins_lookup3);
//! numcodecs 0.17, `checksum32.py`, `jenkins.pyx`; lookup3.c, in the public domain.

use super::optional;
use crate::codec::checksum;
use crate::error::{Error, Result};
use crate::interface::{Binding, Call, Codec, Context, Frame, Kind};
use crate::json::{Configuration, integer};
use crate::representation::Representation;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug, Clone)]
struct JenkinsLookup3 {
    configuration: Map<String, Value>,
    initval: u32,
}

/// `{"initval": n, "prefix": null}`, both optional
pub(crate) fn parse(mut configuration: Configuration, _context: &Context) -> Result<Arc<dyn Codec>> {
    let mut members = Map::new();
    let initval = match optional(&mut configuration, &mut members, "initval") {
        None => 0,
        Some(value) => integer("initval", &value, 0, u32::MAX.into())? as u32,
    };
    if let Some(prefix) = optional(&mut configuration, &mut members, "prefix") {
        // numcodecs takes bytes here, which JSON cannot express.
        return Err(Error::metadata(format!("prefix is {prefix}, expected null")));
    }
    configuration.finish()?;
    Ok(Arc::new(JenkinsLookup3 { configuration: members, initval }))
}

impl Codec for JenkinsLookup3 {
    fn kind(&self) -> Kind {
        Kind::BytesToBytes
    }

    fn configuration(&self) -> Option<Map<String, Value>> {
        Some(self.configuration.clone())
    }

    fn bind(&self, decoded: &Representation) -> Result<Binding> {
        Ok(Binding::frame(decoded, Arc::new(self.clone())))
    }
}

impl Frame for JenkinsLookup3 {
    fn trailing_size(&self) -> u64 {
        4
    }

    fn write(&self, payload: &[u8], _leading: &mut [u8], trailing: &mut [u8], _call: &Call<'_>) -> Result<()> {
        trailing.copy_from_slice(&lookup3(payload, self.initval).to_le_bytes());
        Ok(())
    }

    fn check(&self, payload: &[u8], _leading: &[u8], trailing: &[u8], _call: &Call<'_>) -> Result<()> {
        checksum::check(trailing, lookup3(payload, self.initval))
    }

    fn checks_payload(&self) -> bool {
        true
    }
}

/// `hashlittle(bytes, initval)`: three words of 12 bytes at a time, the last 1 to 12 filled up with zeros.
fn lookup3(bytes: &[u8], initval: u32) -> u32 {
    let start = 0xDEAD_BEEF_u32.wrapping_add(bytes.len() as u32).wrapping_add(initval);
    let mut state = [start; 3];
    let Some(last_start) = bytes.len().checked_sub(1).map(|last| last / 12 * 12) else { return start };
    let (all, last) = bytes.split_at(last_start);
    for block in all.as_chunks::<12>().0 {
        state = mixed(added(state, block));
    }
    let mut block = [0; 12];
    block[..last.len()].copy_from_slice(last);
    finished(added(state, &block))
}

fn added(mut state: [u32; 3], block: &[u8; 12]) -> [u32; 3] {
    for (word, bytes) in state.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = word.wrapping_add(u32::from_le_bytes(*bytes));
    }
    state
}

/// The rotations of `mix`: each word in turn loses the one before it and takes up its rotation; that one gains the
/// third.
fn mixed(mut state: [u32; 3]) -> [u32; 3] {
    for (step, rotation) in [4, 6, 8, 16, 19, 4].into_iter().enumerate() {
        let (this, before, next) = (step % 3, (step + 2) % 3, (step + 1) % 3);
        state[this] = state[this].wrapping_sub(state[before]) ^ state[before].rotate_left(rotation);
        state[before] = state[before].wrapping_add(state[next]);
    }
    state
}

/// The rotations of `final`: from the third word on, each takes up the one before it and loses its rotation.
fn finished(mut state: [u32; 3]) -> u32 {
    for (step, rotation) in [14, 11, 25, 16, 4, 14, 24].into_iter().enumerate() {
        let (this, before) = ((step + 2) % 3, (step + 1) % 3);
        state[this] = (state[this] ^ state[before]).wrapping_sub(state[before].rotate_left(rotation));
    }
    state[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples at the end of lookup3.c.
    #[test]
    fn the_hashes_are_those_of_lookup3() {
        assert_eq!(lookup3(b"", 0), 0xDEAD_BEEF);
        assert_eq!(lookup3(b"", 0xDEAD_BEEF), 0xBD5B_7DDE);
        assert_eq!(lookup3(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(lookup3(b"Four score and seven years ago", 1), 0xCD62_8161);
    }
}

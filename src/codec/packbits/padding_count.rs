//! The byte that counts the bits that fill up the last byte of packed elements.

use crate::codec::location::Location;
use crate::error::{Error, Result};
use crate::interface::{Call, Frame};
use std::sync::Arc;

/// The byte at this place, for this many elements of this many bits.
pub(super) fn frame(place: Location, element_count: u64, bits: usize) -> Arc<dyn Frame> {
    let used = element_count % 8 * bits as u64 % 8;
    Arc::new(CountByte { place, count: ((8 - used) % 8) as u8 })
}

#[derive(Debug)]
struct CountByte {
    place: Location,
    count: u8,
}

impl Frame for CountByte {
    fn leading_size(&self) -> u64 {
        self.place.at(1, 0)
    }

    fn trailing_size(&self) -> u64 {
        self.place.at(0, 1)
    }

    fn write(&self, _payload: &[u8], leading: &mut [u8], trailing: &mut [u8], _call: &Call<'_>) -> Result<()> {
        self.place.at(leading, trailing).fill(self.count);
        Ok(())
    }

    fn check(&self, _payload: &[u8], leading: &[u8], trailing: &[u8], _call: &Call<'_>) -> Result<()> {
        let byte = self.place.at(leading, trailing);
        if byte == [self.count] {
            return Ok(());
        }
        let message = format!("the padding byte is {}, but there are {} padding bits", byte[0], self.count);
        Err(Error::corrupt(message))
    }

    fn checks_payload(&self) -> bool {
        false
    }
}

//! The coder of a chunk's blocks: the crate `zfp-rs`, our own kernels, or with the feature `zfp-sys` LLNL's C library.

use super::grid::dimensionality_of;
use super::mode::Parameters;
use super::own_blocks;
use crate::error::{Error, Result};
use zfp_rs::codec::block::{decode_block, encode_block};
use zfp_rs::{ZfpBitStreamRef, ZfpBitStreamRefMut, ZfpDimensionality, ZfpScalar};

/// A coder of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(all(feature = "zfp-sys", not(test)), allow(dead_code, reason = "the C library was asked for"))]
pub(super) enum Backend {
    ZfpRs,
    /// Our own kernels.
    OwnBlocks(own_blocks::Coder),
    #[cfg(feature = "zfp-sys")]
    CLibrary,
}

impl Backend {
    /// The one of all chains. With the feature `zfp-sys` it is the C library, except in unit tests, which bind that by
    /// name.
    pub(super) fn chosen() -> Self {
        #[cfg(all(feature = "zfp-sys", not(test)))]
        return Self::CLibrary;
        #[cfg(not(all(feature = "zfp-sys", not(test))))]
        if let Some(coder) = own_blocks::Coder::best() {
            return Self::OwnBlocks(coder);
        }
        #[cfg(not(all(feature = "zfp-sys", not(test))))]
        Self::ZfpRs
    }

    /// The one that codes blocks of this number of dimensions.
    pub(super) fn for_blocks_of(self, dimensionality: ZfpDimensionality) -> Self {
        match self {
            Self::OwnBlocks(coder) if !coder.codes(dimensionality) => Self::ZfpRs,
            _ => self,
        }
    }
}

/// Writes blocks one after the other.
pub(super) trait BlockWriter<T, const N: usize> {
    fn write(&mut self, blocks: &[[T; N]]) -> Result<()>;
    /// Writes the last word. Returns the number of bits, without those that fill it up.
    fn finish(self) -> Result<u64>;
}

/// Reads blocks one after the other. Past the end of a stream there are zeros, or the values stay as they are.
pub(super) trait BlockReader<T, const N: usize> {
    fn read(&mut self, blocks: &mut [[T; N]]) -> Result<()>;
    /// The bit where the next block begins: past the end if the stream is too short.
    fn position(&self) -> u64;
}

/// `zfp-rs` writing to words, which must hold all blocks.
pub(super) struct CrateWriter<'a> {
    stream: ZfpBitStreamRefMut<'a>,
    parameters: &'a Parameters,
}

impl<'a> CrateWriter<'a> {
    pub(super) fn new(words: &'a mut [u64], parameters: &'a Parameters) -> Self {
        Self { stream: ZfpBitStreamRefMut::from_words(words), parameters }
    }
}

impl<T: ZfpScalar, const N: usize> BlockWriter<T, N> for CrateWriter<'_> {
    fn write(&mut self, blocks: &[[T; N]]) -> Result<()> {
        for values in blocks {
            encode_block(&mut self.stream, &self.parameters.config, values, const { dimensionality_of::<N>() })
                .map_err(|error| Error::internal(format!("zfp block: {error}")))?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<u64> {
        let bit_count = self.stream.write_pos();
        self.stream.flush();
        if self.stream.overflowed() {
            return Err(Error::internal(format!("zfp blocks took {bit_count} bits, over their bound")));
        }
        Ok(bit_count)
    }
}

/// `zfp-rs` reading the words of a stream.
pub(super) struct CrateReader<'a> {
    stream: ZfpBitStreamRef<'a>,
    parameters: &'a Parameters,
}

impl<'a> CrateReader<'a> {
    /// From this bit on.
    pub(super) fn new(words: &'a [u64], start: u64, parameters: &'a Parameters) -> Self {
        let mut stream = ZfpBitStreamRef::from_words(words);
        stream.seek_read(start);
        Self { stream, parameters }
    }
}

impl<T: ZfpScalar, const N: usize> BlockReader<T, N> for CrateReader<'_> {
    fn read(&mut self, blocks: &mut [[T; N]]) -> Result<()> {
        for values in blocks {
            decode_block(&mut self.stream, &self.parameters.config, values, const { dimensionality_of::<N>() })
                .map_err(|error| Error::internal(format!("zfp block: {error}")))?;
        }
        Ok(())
    }

    fn position(&self) -> u64 {
        self.stream.read_pos()
    }
}

//! Sources of up to 8 bits: the reference, tabulated.

use super::lane::Integer;
use crate::codec::cast_value::kernel::{Entry, Kernel};

/// The converted value of each of the 256 bytes.
#[derive(Debug)]
pub(in crate::codec::cast_value) struct Table<T> {
    converted: Box<[T; 256]>,
    is_bad: Box<[bool; 256]>,
    has_bad: bool,
}

impl<T: Integer> Table<T> {
    pub(in crate::codec::cast_value) fn kernel(convert: impl Fn(u8) -> Option<u64>) -> Box<dyn Kernel> {
        let mut table =
            Self { converted: Box::new([T::truncate(0); 256]), is_bad: Box::new([false; 256]), has_bad: false };
        for byte in 0..=255_u8 {
            let index = usize::from(byte);
            match convert(byte) {
                Some(bits) => table.converted[index] = T::truncate(bits),
                None => table.is_bad[index] = true,
            }
        }
        table.has_bad = table.is_bad.contains(&true);
        Box::new(table)
    }
}

impl<T: Integer> Kernel for Table<T> {
    fn run(&self, input: &[u8], output: &mut [u8]) -> bool {
        for (output, input) in T::elements_mut(output).iter_mut().zip(input) {
            *output = self.converted[usize::from(*input)].store();
        }
        self.has_bad && input.iter().fold(false, |is_bad, byte| is_bad | self.is_bad[usize::from(*byte)])
    }

    fn output_size(&self) -> usize {
        size_of::<T>()
    }

    /// The table includes it.
    fn set_map(&mut self, _: &[Entry]) {}
}

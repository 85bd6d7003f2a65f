//! Elements whose bytes are not all of one kind: the members of a struct, each as `bytes` has its type.

use super::Kernel;
use crate::error::Result;
use crate::interface::Elementwise;
use std::ops::Range;

/// The change to each range of bytes of an element. Neighbours of one kind are one member.
#[derive(Debug)]
pub(super) struct Members {
    members: Vec<(Kernel, Range<usize>)>,
    element_size: usize,
}

impl Members {
    /// Of the kernels and sizes of the parts of an element, in order.
    pub(super) fn new(parts: impl Iterator<Item = (Kernel, usize)>) -> Self {
        let mut members: Vec<(Kernel, Range<usize>)> = Vec::new();
        let mut end = 0;
        for (kernel, size) in parts {
            match members.last_mut() {
                Some((last, bytes)) if *last == kernel => bytes.end += size,
                _ => members.push((kernel, end..end + size)),
            }
            end += size;
        }
        Self { members, element_size: end }
    }

    /// The kernel of all bytes, if it is one.
    pub(super) fn only(&self) -> Option<Kernel> {
        if let [(kernel, _)] = self.members.as_slice() { Some(*kernel) } else { None }
    }

    fn run(&self, input: &[u8], output: &mut [u8]) {
        for (kernel, bytes) in &self.members {
            let input = input.chunks_exact(self.element_size).map(|element| &element[bytes.clone()]);
            let output = output.chunks_exact_mut(self.element_size).map(|element| &mut element[bytes.clone()]);
            let members = input.zip(output);
            match *kernel {
                Kernel::Swap2 => members.for_each(|(input, output)| swap::<2>(input, output)),
                Kernel::Swap4 => members.for_each(|(input, output)| swap::<4>(input, output)),
                Kernel::Swap8 => members.for_each(|(input, output)| swap::<8>(input, output)),
                kernel => members.for_each(|(input, output)| kernel.run(input, output)),
            }
        }
    }
}

/// Reverses few components, for which the choice of a tier would take longer than the work.
fn swap<const SIZE: usize>(input: &[u8], output: &mut [u8]) {
    for (input, output) in input.as_chunks::<SIZE>().0.iter().zip(output.as_chunks_mut::<SIZE>().0) {
        *output = *input;
        output.reverse();
    }
}

impl Elementwise for Members {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        self.run(decoded, encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.run(encoded, decoded);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_is_treated_as_its_type() {
        let parts = [(Kernel::Swap2, 2), (Kernel::Swap2, 4), (Kernel::Copy, 3), (Kernel::Bool, 1), (Kernel::Swap8, 8)];
        let members = Members::new(parts.into_iter());
        assert_eq!((members.members.len(), members.element_size), (4, 18));
        let input: Vec<u8> = (0..36).collect();
        let mut output = vec![0xA5; 36];
        members.run(&input, &mut output);
        assert_eq!(output[..10], [1, 0, 3, 2, 5, 4, 6, 7, 8, 1]);
        assert_eq!(output[10..18], [17, 16, 15, 14, 13, 12, 11, 10]);
        assert_eq!(output[18..28], [19, 18, 21, 20, 23, 22, 24, 25, 26, 1]);
        assert_eq!(output[28..], [35, 34, 33, 32, 31, 30, 29, 28]);
    }

    #[test]
    fn members_of_one_kind_are_one_run() {
        let parts = || [(Kernel::Swap4, 4), (Kernel::Swap4, 8)].into_iter();
        assert_eq!(Members::new(parts()).only(), Some(Kernel::Swap4));
        assert_eq!(Members::new(parts().chain([(Kernel::Copy, 1)])).only(), None);
    }
}

//! Buffers whose size somebody else chose: running out of memory is an error, not an abort.

use crate::error::{Error, Result};

/// Makes a buffer at least this long. New elements are zeros, old ones are unchanged.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub(crate) fn grow<T: Copy + Default>(buffer: &mut Vec<T>, count: usize) -> Result<()> {
    if buffer.len() < count {
        buffer.try_reserve_exact(count - buffer.len()).map_err(|_| Error::out_of_memory())?;
        buffer.resize(count, T::default());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    #[test]
    fn a_buffer_grows_and_never_shrinks() {
        let mut buffer = vec![7_u64];
        for (count, expected) in [(3, vec![7, 0, 0]), (2, vec![7, 0, 0])] {
            grow(&mut buffer, count).unwrap();
            assert_eq!(buffer, expected);
        }
        assert_eq!(grow(&mut buffer, usize::MAX).unwrap_err().status(), Status::OutOfMemory);
        assert_eq!(buffer.len(), 3);
    }
}

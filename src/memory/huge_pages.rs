//! Huge pages for large buffers, where the system grants them on request.
#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "a call of the system that the standard library does not have")
)]

/// Asks the system to provide this buffer in huge pages when it is first written: 32 MiB take 16 ms longer in pages of
/// 4 KiB (Zen 4). A buffer of less than 4 MiB stays as it is, and so does every buffer on other systems than Linux.
/// NumPy does the same.
pub(super) fn request<T>(buffer: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        /// From this size on, a huge page is likely to be used as a whole.
        const MIN_SIZE: usize = 4 << 20;
        /// Also a multiple of the sizes of small pages, which the range has to consist of.
        const PAGE_SIZE: usize = 2 << 20;
        let begin = buffer.as_mut_ptr().cast::<u8>();
        let skipped = begin.align_offset(PAGE_SIZE);
        let size = size_of_val(buffer).saturating_sub(skipped) / PAGE_SIZE * PAGE_SIZE;
        if size_of_val(buffer) < MIN_SIZE || size == 0 {
            return;
        }
        // SAFETY: whole pages of the buffer. How they are provided changes no byte. If the system refuses, they stay
        // as they are.
        unsafe { libc::madvise(begin.add(skipped).cast(), size, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = buffer;
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_of_every_size_keeps_its_bytes() {
        for size in [0, 1, 4095, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, (6 << 20) + 4097] {
            let mut buffer = vec![0_u8; size];
            super::request(&mut buffer);
            assert!(buffer.iter().all(|byte| *byte == 0), "{size} bytes");
            buffer.fill(7);
            super::request(&mut buffer);
            assert!(buffer.iter().all(|byte| *byte == 7), "{size} bytes that were written");
        }
        super::request::<u64>(&mut []);
    }
}

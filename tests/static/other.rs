//! Another Rust library in the same program.
use std::collections::HashMap;

/// Uses what two copies of Rust's library could get wrong together: threads, panics, random numbers. The sum of the
/// squares below `number`, and 1 for a panic that was caught.
#[unsafe(no_mangle)]
pub extern "C" fn other_library(number: u32) -> u32 {
    std::panic::set_hook(Box::new(|_| ()));
    let caught = std::panic::catch_unwind(|| assert_eq!(number, 0)).is_err();
    let squares = std::thread::spawn(move || {
        let map: HashMap<u32, u32> = (0..number).map(|i| (i, i * i)).collect();
        map.values().sum::<u32>()
    });
    squares.join().unwrap() + u32::from(caught)
}

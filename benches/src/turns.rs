//! Contestants in turn. What slows one call on a shared machine slows the next as well, so that the ratio of two calls of
//! one round holds where the speed of either does not; the median of the rounds' ratios is the result. Criterion runs
//! contestants seconds apart, in which the machine changes its speed.

use std::time::{Duration, Instant};

/// How long a contestant runs at least in each round, so that the clock's own cost does not count.
const TURN: Duration = Duration::from_micros(300);

/// What is measured: a call that does the whole work once.
pub type Contestant<'a> = Box<dyn FnMut() + 'a>;

/// What the rounds gave.
#[derive(Debug)]
pub struct Medians {
    /// Seconds per call of the first contestant.
    pub seconds: f64,
    /// How many times as fast as the first each contestant is; the first itself is 1.
    pub ratios: Vec<f64>,
}

/// Runs all contestants in turn, in `rounds` rounds after one that only warms up.
///
/// # Panics
///
/// If there is no contestant or no round.
pub fn in_turn(contestants: &mut [Contestant<'_>], rounds: usize) -> Medians {
    let repeats: Vec<u32> = contestants.iter_mut().map(|contestant| repeats(contestant)).collect();
    let mut seconds = vec![Vec::with_capacity(rounds); contestants.len()];
    for _ in 0..rounds {
        for (index, contestant) in contestants.iter_mut().enumerate() {
            seconds[index].push(time(contestant, repeats[index]));
        }
    }
    let ratios = seconds.iter().map(|own| median(seconds[0].iter().zip(own).map(|(first, own)| first / own)));
    let ratios = ratios.collect();
    Medians { seconds: median(seconds[0].iter().copied()), ratios }
}

/// How many calls fill a turn.
fn repeats(contestant: &mut Contestant<'_>) -> u32 {
    time(contestant, 1);
    let once = time(contestant, 1).max(1e-9);
    ((TURN.as_secs_f64() / once).ceil() as u32).max(1)
}

/// Seconds per call.
fn time(contestant: &mut Contestant<'_>, repeats: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..repeats {
        contestant();
    }
    start.elapsed().as_secs_f64() / f64::from(repeats)
}

/// The middle value, or the mean of the two in the middle.
///
/// # Panics
///
/// If there is no value.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

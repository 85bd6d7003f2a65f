//! The code of those coefficients of a plane that were not significant before.
//!
//! A test bit tells whether there is a one in the rest of the plane; if so, the bits up to that one follow, which make
//! a group, and another test. A one in the last place is not written: its test has told it.
//!
//! So the groups are the rest of the plane with a test of 1 before and after each one, and the last test 0. Groups of
//! few bits have a table.

use super::bits::{BitReader, MAX_BITS};

/// Skips the planes from `k` down to `kmin` that have no ones: before the first one, each zero is the negative test of
/// a plane. Returns the number of those below them.
#[inline(always)]
pub(super) fn skip_empty(source: &mut BitReader<'_>, mut k: u32, kmin: u32, end: u64) -> u32 {
    loop {
        let most = u64::from(k - kmin).min(end - source.position()).min(MAX_BITS.into());
        let empty = source.window().trailing_zeros().min(most as u32);
        source.take(empty);
        k -= empty;
        if empty < MAX_BITS {
            return k;
        }
    }
}

/// Takes zeros up to a one, and the one unless it is in the last place, where it is not written, or cut off by the end.
/// Returns the place of the one.
#[inline(always)]
pub(super) fn take_up_to_one(source: &mut BitReader<'_>, mut place: u32, size: u32, end: u64) -> u32 {
    while place < size - 1 && source.position() < end {
        let most = (end - source.position()).min(MAX_BITS.min(size - 1 - place).into()) as u32;
        let zeros = source.window().trailing_zeros().min(most);
        place += zeros;
        source.take(zeros);
        if zeros < most {
            source.take(1);
            break;
        }
    }
    place
}

/// Eight bits of a plane with a test of 1 after each one, and how many bits these are.
#[derive(Clone, Copy)]
pub(super) struct WithTests {
    pub(super) bits: u16,
    pub(super) length: u16,
}

impl WithTests {
    pub(super) const fn of(byte: u8) -> Self {
        let (mut bit, mut this) = (0, Self { bits: 0, length: 0 });
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                this.bits |= 0b11 << this.length;
                this.length += 1;
            }
            this.length += 1;
            bit += 1;
        }
        this
    }
}

static WITH_TESTS: [WithTests; 256] = {
    let mut table = [WithTests::of(0); 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = WithTests::of(byte as u8);
        byte += 1;
    }
    table
};

/// The bits of a plane that [`with_tests`] takes.
pub(super) const AT_ONCE: u32 = 24;

/// The first bits of a plane with a test of 1 after each one, and how many bits these are: at most 48.
#[inline(always)]
pub(super) fn with_tests(plane: u64) -> (u64, u32) {
    let [a, b, c] = [0, 8, 16].map(|place| WITH_TESTS[(plane >> place) as usize % 256]);
    let (two, three) = (a.length + b.length, a.length + b.length + c.length);
    (u64::from(a.bits) | u64::from(b.bits) << a.length | u64::from(c.bits) << two, three.into())
}

/// The bits of a window that a table knows.
pub(super) const SHORT: u32 = 11;

/// Groups that a table knows: from the low byte up their length, their count, whether they are the last of the plane,
/// and in the upper half their bits.
#[derive(Clone, Copy)]
pub(super) struct ShortGroups(u32);

impl ShortGroups {
    const LAST: u32 = 1 << 15;

    /// The groups that a window of `SHORT` bits has whole, if the last place of the plane is far.
    const fn of(window: u32) -> Self {
        let (mut bits, mut count, mut length, mut last) = (0, 0, 0, 0);
        while length < SHORT {
            let rest = window >> length;
            if rest & 1 == 0 {
                length += 1;
                last = Self::LAST;
                break;
            }
            if rest >> 1 == 0 {
                break;
            }
            let zeros = (rest >> 1).trailing_zeros();
            bits |= 1 << (count + zeros);
            count += zeros + 1;
            length += zeros + 2;
        }
        Self(length | count << 8 | last | bits << 16)
    }

    /// How many bits of the stream they take; 0 if there is no whole group.
    #[inline(always)]
    pub(super) fn length(self) -> u32 {
        self.0 & 0xFF
    }

    /// How many bits of the plane they make.
    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.0 >> 8 & 0x7F
    }

    #[inline(always)]
    pub(super) fn are_last(self) -> bool {
        self.0 & Self::LAST != 0
    }

    #[inline(always)]
    pub(super) fn bits(self) -> u64 {
        (self.0 >> 16).into()
    }
}

static SHORT_GROUPS: [ShortGroups; 1 << SHORT] = {
    let mut table = [ShortGroups(0); 1 << SHORT];
    let mut window = 0;
    while window < 1 << SHORT {
        table[window as usize] = ShortGroups::of(window);
        window += 1;
    }
    table
};

/// Those groups that the first bits of a window have whole. They are right only if they leave out the last place of
/// the plane.
#[inline(always)]
pub(super) fn short_groups(window: u64) -> ShortGroups {
    SHORT_GROUPS[window as usize % (1 << SHORT)]
}

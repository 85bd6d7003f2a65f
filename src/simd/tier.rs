//! Several ways of doing one thing.

use super::Level;

/// A kernel, or a function that chooses one, and the level whose instructions it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tier<K> {
    pub(crate) level: Level,
    /// If it is unsafe to call only because of its instructions, it is safe once [`available`] or [`best`] has returned
    /// its tier.
    pub(crate) kernel: K,
}

/// The tiers that this processor has, in the order of the table: fastest first.
pub(crate) fn available<K>(tiers: &[Tier<K>]) -> impl Iterator<Item = &Tier<K>> {
    tiers.iter().filter(|tier| tier.level.is_available())
}

/// The fastest tier that this processor has. There always is one in a table with a reference.
pub(crate) fn best<K>(tiers: &[Tier<K>]) -> Option<&Tier<K>> {
    available(tiers).next()
}

#[cfg(test)]
mod tests {
    use super::super::with_limit;
    use super::*;

    const TIERS: &[Tier<&str>] = &[
        #[cfg(target_arch = "x86_64")]
        Tier { level: Level::Avx2, kernel: "of one architecture" },
        Tier { level: Level::Portable, kernel: "of all" },
        Tier { level: Level::Reference, kernel: "definition" },
    ];

    #[test]
    fn the_best_tier_is_the_first_within_the_limit() {
        for (limit, kernel) in [(Level::Portable, "of all"), (Level::Reference, "definition")] {
            let best = with_limit(Some(limit), || best(TIERS));
            assert_eq!(best.map(|tier| tier.kernel), Some(kernel));
        }
        assert!(available(TIERS).map(|tier| tier.kernel).collect::<Vec<_>>().ends_with(&["of all", "definition"]));
    }
}

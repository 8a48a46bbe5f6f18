// SPDX-License-Identifier: MIT
//! The way back from time to ticks. The conversion itself is the judge, so the inverse cannot
//! disagree with it.

use super::{CopyWords, LineWords};

/// The range of the inverse, either side of the start of `after`: at most 2^62 ns, within which
/// neither monotonic time nor UTC overflows.
const REACH_BITS: u32 = 62;

/// The second one is of the first one's error: days ahead that is thousands of ticks.
const GUESSES: usize = 2;

/// A time whose tick is wanted.
struct Inverse<'a> {
    lines: &'a CopyWords,
    target_ns: i64,
    is_utc: bool,
}

impl Inverse<'_> {
    fn time_at(&self, ticks: u64) -> i64 {
        let reading = self.lines.at(ticks);
        if self.is_utc {
            reading.utc_ns
        } else {
            reading.mono_ns
        }
    }

    fn is_early(&self, ticks: u64) -> bool {
        self.time_at(ticks) < self.target_ns
    }

    /// Along a line whose tick is no longer than that of `after`, from one tick to another.
    fn is_rising(&self, line: &LineWords, first: u64, last: u64) -> bool {
        line.period_ns.load() <= self.lines.after.period_ns.load()
            && self.time_at(first) <= self.time_at(last)
    }

    /// The first of so many ticks that is not early, or the one after them; time does not go back
    /// along them. From the guess on in steps that double, until it lies between two of them; then
    /// by halves.
    fn first_on(&self, line: &LineWords, first: u64, count: u64) -> u64 {
        let (mut low, mut high, mut step, mut at) = (0, count, 1u64, 0u64);
        for _ in 0..GUESSES {
            let left_ns = self.target_ns.wrapping_sub(self.time_at(first.wrapping_add(at)));
            let ticks = line.guess(left_ns.unsigned_abs());
            at = if left_ns < 0 { at.wrapping_sub(ticks) } else { at.wrapping_add(ticks) };
        }
        while low < high {
            if at < low || at >= high {
                at = low + (high - low) / 2;
            }
            if self.is_early(first.wrapping_add(at)) {
                low = at + 1;
                at = low.wrapping_add(step);
            } else {
                high = at;
                at = high.wrapping_sub(step);
            }
            if step < count {
                step *= 2;
            }
        }
        first.wrapping_add(low)
    }

    /// For any lines; where time goes back several ticks may be the first, and it is the one that
    /// this finds.
    fn first_by_bits(&self, origin: u64, reach: u64) -> u64 {
        let mut first = origin; // every tick of the range before it is too early
        let mut step = reach;
        while step != 0 {
            if self.is_early(first.wrapping_add(step - 1)) {
                first = first.wrapping_add(step);
            }
            step /= 2;
        }
        first
    }
}

impl LineWords {
    /// How many ticks of this line take so long, to 31 bits. Nobody relies on it.
    fn guess(&self, ns: u64) -> u64 {
        let length = u64::from(self.period_ns.load()) << 32 | self.period_frac.load() >> 32;
        let shift = u32::BITS - ((ns >> 32) as u32).leading_zeros();
        ((ns >> shift) << 32).checked_div(length).unwrap_or(0) << shift
    }
}

impl CopyWords {
    /// The first tick whose time is not below the target. On the reach no product overflows; so a
    /// line whose ends are in order is rising.
    pub(super) fn first_tick(&self, target_ns: i64, is_utc: bool) -> u64 {
        let inverse = Inverse { lines: self, target_ns, is_utc };
        let reach = 1 << (REACH_BITS - u32::BITS + self.after.period_ns.load().leading_zeros());
        let before = self.before.start_ticks.load();
        let slew = self.slew.start_ticks.load();
        let after = self.after.start_ticks.load();
        let origin = after.wrapping_sub(reach);
        let (to_before, to_slew) = (before.wrapping_sub(origin), slew.wrapping_sub(origin));
        if inverse.is_early(after.wrapping_sub(1)) {
            if inverse.is_rising(&self.after, after, after.wrapping_add(reach - 1)) {
                return inverse.first_on(&self.after, after, reach - 1);
            }
        } else if to_before < to_slew
            && to_slew < reach
            && inverse.is_rising(&self.before, origin, slew.wrapping_sub(1))
            && inverse.is_rising(&self.slew, slew, after.wrapping_sub(1))
        {
            if inverse.is_early(slew.wrapping_sub(1)) {
                return inverse.first_on(&self.slew, slew, after.wrapping_sub(slew));
            }
            let first = if inverse.is_early(before) { before } else { origin };
            if !inverse.is_early(slew) {
                return inverse.first_on(&self.before, first, slew.wrapping_sub(first));
            }
        }
        inverse.first_by_bits(origin, reach)
    }
}

#[cfg(all(test, not(any(miri, loom))))]
mod tests {
    //! The tick of a time is the one that bit by bit is found, whatever the lines: the conversion is
    //! the only judge. As `tests/unit/inverse.c` has it for C.
    use crate::page::{Line, Lines, Page};

    const PAGES: u64 = 5000;
    const SECOND: u64 = 1_000_000_000;

    /// splitmix64 (Vigna)
    struct Dice(u64);

    impl Dice {
        fn any(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        fn below(&mut self, end: u64) -> u64 {
            self.any() % end
        }

        /// Of any length.
        fn some(&mut self) -> u64 {
            self.any() >> self.below(64)
        }

        fn some_or_none(&mut self) -> u64 {
            self.some() * self.below(2)
        }

        fn near(&mut self, value: u64) -> u64 {
            match self.below(5) {
                0 => value,
                1 => value.wrapping_add(1),
                2 => value.wrapping_sub(1),
                3 => value.wrapping_add(self.some()),
                _ => value.wrapping_sub(self.some()),
            }
        }
    }

    /// Each bit is set if the last tick without it is too early.
    fn by_bits(page: &Page, after: &Line, target_ns: i64, is_utc: bool) -> u64 {
        let bits = 62 - (0..32).filter(|bit| after.period_ns >> bit != 0).count();
        let mut found = after.start_ticks.wrapping_sub(1 << bits);
        for bit in (0..=bits).rev() {
            let reading = page.at(found.wrapping_add((1 << bit) - 1)).expect("lines");
            if (if is_utc { reading.utc_ns } else { reading.mono_ns }) < target_ns {
                found = found.wrapping_add(1 << bit);
            }
        }
        found
    }

    fn expect_same_near(lines: &Lines, dice: &mut Dice) {
        let page = Page::of(lines);
        for i in 0..6 {
            let line = [&lines.before, &lines.slew, &lines.after][dice.below(3) as usize];
            let is_utc = dice.below(2) == 1;
            let near = dice.near(if is_utc { line.utc_ns } else { line.mono_ns });
            let target_ns = if i == 0 { dice.any() } else { near } as i64;
            let found =
                if is_utc { page.ticks_at_utc(target_ns) } else { page.ticks_at_mono(target_ns) };
            let expected = by_bits(&page, &lines.after, target_ns, is_utc);
            assert_eq!(found, Some(expected), "{target_ns}, UTC: {is_utc}, {lines:?}");
        }
    }

    /// Each line begins where the one before ends; UTC may be stepped there, by up to so much.
    fn drawn(dice: &mut Dice, period_frac: u64, period_ns: u32, step_ns: u64) -> Lines {
        let mut ticks = dice.some();
        let mut mono_ns = dice.some() >> 2;
        let mut utc_ns = mono_ns + 1_790_000_000 * SECOND;
        let [before, slew, after] = [0, period_frac >> 11, 0].map(|faster| {
            let period_frac = period_frac.wrapping_add(faster);
            let line = Line {
                start_ticks: ticks,
                mono_ns,
                utc_ns,
                period_frac,
                period_ns,
                ..Line::default()
            };
            let shift = 24 + dice.below(40);
            let span = dice.any() >> shift;
            let elapsed_ns = ((u128::from(span).wrapping_mul(line.period())) >> 64) as u64;
            ticks = ticks.wrapping_add(span);
            mono_ns = mono_ns.wrapping_add(elapsed_ns);
            let step = dice.below(2 * step_ns + 1).wrapping_sub(step_ns);
            utc_ns = utc_ns.wrapping_add(elapsed_ns).wrapping_add(step);
            line
        });
        Lines { before, slew, after, ..Lines::default() }
    }

    fn on_lines(draw: impl Fn(&mut Dice) -> Lines) {
        for seed in 0..PAGES {
            let mut dice = Dice(seed);
            let lines = draw(&mut dice);
            expect_same_near(&lines, &mut dice);
        }
    }

    #[test]
    fn an_inverse_on_lines_as_they_are_published() {
        on_lines(|dice| {
            let shift = 1 + dice.below(3);
            let period_ns = if dice.below(4) == 0 { dice.below(1000) } else { 0 };
            let period_frac = dice.any() >> shift;
            drawn(dice, period_frac, period_ns as u32, 0)
        });
    }

    #[test]
    fn an_inverse_where_utc_is_stepped_between_them() {
        on_lines(|dice| {
            let period_frac = dice.any() >> 1;
            drawn(dice, period_frac, 0, SECOND)
        });
    }

    #[test]
    fn an_inverse_on_ticks_of_no_length_and_of_seconds() {
        on_lines(|dice| {
            let (period_frac, period_ns) = (dice.some_or_none(), dice.some_or_none() as u32);
            drawn(dice, period_frac, period_ns, 1)
        });
    }

    /// In no order, over the ends of all numbers.
    #[test]
    fn an_inverse_on_lines_that_nobody_makes() {
        on_lines(|dice| {
            let (ticks, ns) = (dice.any() * dice.below(2), dice.any() * dice.below(2));
            let [before, slew, after] = [(); 3].map(|()| Line {
                start_ticks: dice.near(ticks),
                mono_ns: dice.near(ns),
                utc_ns: dice.near(ns),
                period_frac: dice.some(),
                period_ns: dice.some_or_none() as u32,
                ..Line::default()
            });
            Lines { before, slew, after, ..Lines::default() }
        });
    }
}

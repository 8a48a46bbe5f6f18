// SPDX-License-Identifier: MIT
//! By how many ticks the counter steps: what it can tell apart. `src/clock/counter/granularity.c`
//! says why reads are spaced unevenly, and `src/clock/counter/even_step.c` how steps are found that
//! are no whole number of ticks.

/// Reads of a round.
const READS: usize = 1024;
/// Coarse counters: most reads see no step.
const ROUNDS_MAX: usize = 64;
const EVEN_ROUNDS: usize = 4;
const GROUP_STEPS: usize = 16;
const GROUPS: usize = 32;

/// Of shorter steps, few reads tell how many they are apart.
const LEAST_TICKS: f64 = 12.0;
/// What is rounded off, and 1 that some processors add.
const TOLERATED_TICKS: f64 = 2.0;
/// So many differences tell how far apart reads usually are,
const FIRST_ONES: usize = 64;
/// and where that is more steps than these, one step is nothing beside it.
const STEPS_MAX: u32 = 256;

/// The step of the counter that `read` reads, rounded up; at least 1.
pub(crate) fn granularity_ticks(mut read: impl FnMut() -> u64) -> u64 {
    let mut seed = 1;
    let mut reads = [0; READS];
    let mut steps = Steps { ticks: [0; GROUPS * GROUP_STEPS], count: 0 };
    for round in 0..ROUNDS_MAX {
        if steps.are_enough() && round >= EVEN_ROUNDS {
            break;
        }
        read_unevenly(&mut reads, &mut read, &mut seed);
        if let Some(even) = even_step(&reads) {
            return rounded_up(even);
        }
        steps.add(&reads);
    }
    common_step(&steps.ticks[..steps.count])
}

/// How many turns a pause takes: another number each time, below 32.
fn turns(seed: &mut u32) -> u32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    *seed >> 27
}

fn read_unevenly(reads: &mut [u64], read: &mut impl FnMut() -> u64, seed: &mut u32) {
    for ticks in reads {
        for turn in 0..turns(seed) {
            core::hint::black_box(turn); // or the compiler would leave the pause out
        }
        *ticks = read();
    }
}

fn differences(reads: &[u64]) -> impl Iterator<Item = i64> + '_ {
    reads.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64)
}

/// Steps forward.
struct Steps {
    ticks: [u64; GROUPS * GROUP_STEPS],
    count: usize,
}

impl Steps {
    fn are_enough(&self) -> bool {
        self.count == self.ticks.len()
    }

    fn add(&mut self, reads: &[u64]) {
        let forward = differences(reads).filter(|&ticks| ticks > 0);
        for (place, ticks) in self.ticks[self.count..].iter_mut().zip(forward) {
            *place = ticks as u64;
            self.count += 1;
        }
    }
}

fn common_divisor(steps: &[u64]) -> u64 {
    steps.iter().fold(0, |mut a, &(mut b)| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    })
}

/// What nearly all steps are multiples of: the median of the divisors of groups. 1 if there are none.
fn common_step(steps: &[u64]) -> u64 {
    let mut divisors = [0; GROUPS];
    let groups = steps.chunks_exact(GROUP_STEPS);
    let count = groups.len().min(GROUPS);
    if count == 0 {
        return common_divisor(steps).max(1);
    }
    for (divisor, group) in divisors.iter_mut().zip(groups) {
        *divisor = common_divisor(group);
    }
    divisors[..count].sort_unstable();
    divisors[count / 2]
}

/// How far the counter steps: ticks, which need not be whole ones. `None` if it does not step evenly,
/// or by fewer than 12.
fn even_step(reads: &[u64]) -> Option<f64> {
    let usual = usual_difference(reads)?;
    (1..=STEPS_MAX)
        .map(f64::from)
        .take_while(|steps| usual >= LEAST_TICKS * steps)
        .find_map(|steps| step_if(reads, usual, steps))
}

/// The median of the first ones.
fn usual_difference(reads: &[u64]) -> Option<f64> {
    let mut first = [0; FIRST_ONES];
    let count = FIRST_ONES.min(reads.len().saturating_sub(1));
    for (place, difference) in first.iter_mut().zip(differences(reads)) {
        *place = difference;
    }
    first[..count].sort_unstable();
    first[..count].get(count / 2).map(|&difference| difference as f64)
}

/// The step, if a difference of so many ticks is so many steps. Each read that it explains tells it
/// closer; `most` is the number of steps that told it.
fn step_if(reads: &[u64], difference_ticks: f64, difference_steps: f64) -> Option<f64> {
    let (mut step, mut most) = (difference_ticks / difference_steps, difference_steps);
    for ticks in since_first(reads) {
        let steps = nearest(ticks / step);
        let error_ticks = steps / most;
        if error_ticks > step / 4.0 {
            return None; // no telling how many steps it is
        }
        if steps > most && distance(ticks, steps * step) <= TOLERATED_TICKS + error_ticks {
            (step, most) = (ticks / steps, steps);
        }
    }
    let whole = nearest(step);
    let is_whole = distance(step, whole) * most <= TOLERATED_TICKS;
    explains(step, reads).then_some(if is_whole { whole } else { step })
}

/// Nine reads in ten.
fn explains(step: f64, reads: &[u64]) -> bool {
    let is_near = |&ticks: &f64| distance(ticks, nearest(ticks / step) * step) <= TOLERATED_TICKS;
    since_first(reads).filter(is_near).count() * 10 >= (reads.len() - 1) * 9
}

fn since_first(reads: &[u64]) -> impl Iterator<Item = f64> + '_ {
    reads[1..].iter().map(|read| read.wrapping_sub(reads[0]) as i64 as f64)
}

// `core` has no round(), abs() and ceil().

fn nearest(value: f64) -> f64 {
    (value + 0.5) as i64 as f64
}

fn distance(a: f64, b: f64) -> f64 {
    if a < b {
        b - a
    } else {
        a - b
    }
}

fn rounded_up(ticks: f64) -> u64 {
    let whole = ticks as u64;
    whole + u64::from((whole as f64) < ticks)
}

#[cfg(all(test, not(any(miri, loom))))]
mod tests {
    //! As `tests/unit/counter_granularity.c` has it for C.
    use super::*;

    /// A counter that is read every so often, and each time a little later.
    struct Counter {
        step: f64,
        apart: u32,
        adds_one: bool, // to a read that would equal the one before
        instant: f64,
        told: u64,
        seed: u32,
    }

    impl Counter {
        fn new(step: f64, apart: u32, seed: u32) -> Self {
            Self { step, apart, adds_one: false, instant: 1e6, told: 0, seed }
        }

        fn read(&mut self) -> u64 {
            self.instant += f64::from(self.apart + turns(&mut self.seed));
            let shown = ((self.instant / self.step).floor() * self.step) as u64;
            let is_same = self.adds_one && shown <= self.told;
            self.told = if is_same { self.told + 1 } else { shown };
            self.told
        }

        fn granularity_ticks(&mut self) -> u64 {
            granularity_ticks(|| self.read())
        }
    }

    const STEPS: [(f64, u64); 7] =
        [(1.0, 1), (2.0, 2), (10.0, 10), (26.0, 26), (24.5, 25), (24.576, 25), (33.3, 34)];

    #[test]
    fn steps_are_found_whatever_their_length() {
        for (step, expected) in STEPS {
            for seed in 0..50 {
                let found = Counter::new(step, 30, seed).granularity_ticks();
                assert_eq!(found, expected, "{step}, seed {seed}");
            }
        }
    }

    #[test]
    fn a_one_that_a_processor_adds_does_not_hide_the_step() {
        for seed in 0..50 {
            let mut counter = Counter::new(26.0, 6, seed);
            counter.adds_one = true;
            assert_eq!(counter.granularity_ticks(), 26, "seed {seed}");
        }
    }

    #[test]
    fn a_fine_counter_is_not_taken_for_a_coarse_one() {
        let (mut now, mut seed) = (0, 1);
        let uneven = granularity_ticks(|| {
            now += 40 + u64::from(turns(&mut seed));
            now
        });
        assert_eq!(uneven, 1);
        // What reads at a constant distance would make of it.
        let constant = granularity_ticks(|| {
            now += 40;
            now
        });
        assert_eq!(constant, 40);
    }

    #[test]
    fn a_round_that_was_held_up_does_not_hide_the_step() {
        for (step, expected) in STEPS {
            for held_up in [1, 2, 3, 10, 100, 500, READS - 1] {
                let mut counter = Counter::new(step, 30, held_up as u32);
                let mut read = 0;
                let found = granularity_ticks(|| {
                    counter.instant += if read == held_up { 100_000.0 } else { 0.0 };
                    read += 1;
                    counter.read()
                });
                assert_eq!(found, expected, "{step}, held up before read {held_up}");
            }
        }
    }

    #[test]
    fn counters_that_stand_still_or_go_back_step_by_one() {
        assert_eq!(granularity_ticks(|| 5), 1);
        let mut now = 0u64;
        let back = granularity_ticks(|| {
            now = now.wrapping_sub(24);
            now
        });
        assert_eq!(back, 1);
    }

    #[test]
    fn the_common_step_of_few_steps_and_of_odd_ones() {
        assert_eq!(common_step(&[]), 1);
        assert_eq!(common_step(&[40, 80, 120]), 40);
        for odd in 0..12 {
            let mut steps = [0; GROUPS * GROUP_STEPS];
            for (i, step) in steps.iter_mut().enumerate() {
                *step = 26 * (1 + i as u64 % 5) + u64::from(i / 40 < odd && i % 40 == 7);
            }
            assert_eq!(common_step(&steps), 26, "{odd} odd ones");
        }
    }

    #[test]
    fn short_steps_are_not_taken_for_even() {
        for step in 1..12 {
            let mut counter = Counter::new(f64::from(step), 30, step);
            let reads: [u64; READS] = core::array::from_fn(|_| counter.read());
            assert_eq!(even_step(&reads), None, "{step}");
        }
    }

    #[test]
    fn too_few_reads_have_no_even_step() {
        assert_eq!(even_step(&[]), None);
        assert_eq!(even_step(&[1000]), None);
    }

    #[test]
    fn this_machine() {
        assert!(granularity_ticks(crate::ticks) >= 1);
    }
}

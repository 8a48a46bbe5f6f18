// SPDX-License-Identifier: MIT
//! housekeeping: a thread of its own keeps the clock right, so that no reader ever has to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use timebase::{Clock, Error, Maintenance};

const READS: u32 = 10_000_000;
/// At least once a second; as often as this for full accuracy.
const INTERVAL: Duration = Duration::from_millis(100);

fn keep_house(clock: &Clock, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        match clock.maintain() {
            // BUSY is no fault: the lines are fresh already.
            Ok(()) | Err(Error::Busy) => {}
            Err(error) => eprintln!("maintain: {error}"),
        }
        thread::sleep(INTERVAL);
    }
}

fn main() -> Result<(), Error> {
    let clock = Clock::private();
    let is_over = AtomicBool::new(false);
    let first = clock.instant();
    let mut last = first;

    clock.set_maintenance(Maintenance::Manual)?;
    thread::scope(|scope| {
        scope.spawn(|| keep_house(&clock, &is_over));
        for _ in 0..READS {
            last = clock.instant();
            if last - first >= 5 * INTERVAL {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let statistics = clock.statistics()?;
    println!(
        "{} ms of reading: {} publications, {} of them by readers",
        (last - first).as_millis(),
        statistics.publications(),
        statistics.rescues()
    );
    Ok(())
}

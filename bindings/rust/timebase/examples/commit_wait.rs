// SPDX-License-Identifier: MIT
//! commit_wait: number an event by a time that nobody who hears of it can be behind.
//!
//! The event gets the latest time that it may be now, and is told of only when that time is
//! certainly past: whoever hears of it and then asks any clock, gets a later one.

use std::time::Duration;
use timebase::{Clock, Error, PAGE_PATH};

const PATIENCE: Duration = Duration::from_millis(100);

fn work() {
    println!("the work of the transaction goes here, while the doubt grows old");
}

fn main() -> Result<(), Error> {
    // The daemon's clock: the process' own has no more than an estimate.
    let (clock, why_not) = Clock::attach_or_private(PAGE_PATH);
    if let Some(why_not) = why_not {
        println!("{why_not}");
    }
    let now = match clock.wait_bound(50_000_000, Some(clock.instant() + PATIENCE)) {
        Ok(now) => now,
        Err(Error::Invalid) => return Err(Error::Invalid),
        Err(why) => {
            // Where nobody promises anything about UTC: take another order then.
            println!("no bound below 50 ms: {why}");
            return Ok(());
        }
    };
    work();
    clock.wait_after(now.latest_ns, None)?;
    println!("committed at {}", now.latest_ns);
    Ok(())
}

// SPDX-License-Identifier: MIT
//! wait: begin at a tick, and see how well that went.

use std::time::Duration;
use timebase::{Clock, Error, WaitFlags, Waiter};

fn main() -> Result<(), Error> {
    let clock = Clock::private();
    let mut waiter = Waiter::new(&clock)?;
    let mut begun_ns = 0;
    for _ in 0..5 {
        let target = clock.instant() + Duration::from_millis(2);
        let result = waiter.call_at_mono(target, WaitFlags::SLEEP | WaitFlags::PREPARE, || {
            begun_ns = clock.mono_ns();
        })?;
        let disturbed = if result.disturbances.is_empty() {
            String::new()
        } else {
            format!(" (disturbed: {})", result.disturbances)
        };
        println!(
            "begun {:+.1} ns from its time{disturbed}; the closure's own reading came {} ns after it",
            result.error_ns,
            begun_ns - target.mono_ns()
        );
    }
    Ok(())
}

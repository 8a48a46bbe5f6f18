// SPDX-License-Identifier: MIT
//! calendar: two units of work every millisecond, each at its time, for a fifth of a second.

use std::cell::Cell;
use std::time::Duration;
use timebase::{Calendar, Clock, Unit, UnitResult, WaitFlags, Waiter};

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

fn print(name: &str, result: &UnitResult) {
    println!(
        "{name:<8} {:4} run, {} skipped, {} missed; half of them within {:.1} ns, 9 of 10 within \
         {:.1} ns of their time",
        result.released(),
        result.skipped(),
        result.missed(),
        result.quantile_ns(0.5),
        result.quantile_ns(0.9)
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (samples, sent) = (Cell::new(0u64), Cell::new(0u64));
    let flags = WaitFlags::SLEEP | WaitFlags::PREPARE;
    let sample =
        Unit::new("sample", 20 * US, || samples.set(samples.get() + 1)).period(MS).flags(flags);
    let send = Unit::new("send", 50 * US, || sent.set(sent.get() + samples.get()))
        .ready(500 * US)
        .period(MS)
        .deadline(200 * US)
        .flags(flags);
    // SAFETY: two numbers are added; it may be left at any instruction, and holds nothing.
    let send = unsafe { send.timeout(100 * US) };

    let mut calendar = Calendar::new();
    calendar.unit(sample).unit(send).length(200 * MS);

    let mut waiter = Waiter::new(&Clock::private())?;
    for problem in calendar.admit(Some(&waiter))? {
        println!("{}: {}", if problem.is_warning { "warning" } else { "fault" }, problem.text);
    }
    let results = calendar.run(&mut waiter)?;
    for (name, result) in ["sample", "send"].iter().zip(&results) {
        print(name, result);
    }
    Ok(())
}

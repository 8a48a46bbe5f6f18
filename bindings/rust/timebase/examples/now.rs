// SPDX-License-Identifier: MIT
//! now: what time is it, and how sure is that?

use timebase::{Clock, Status};

fn main() {
    let clock = Clock::private();

    // The short way: a number.
    println!("ns since 1970-01-01: {}\n", clock.utc_ns());

    // The long way: one tick of the counter, and everything it says.
    let now = clock.now();
    println!("UTC        {}", now.utc());
    println!("           +/- {} ns from the system clock", now.maxerror_ns);
    println!(
        "           +/- {} ns from true UTC, as the system clock says of itself",
        now.utc_maxerror_ns
    );
    println!("monotonic  {} ns since boot", now.mono_ns);
    if now.flags.is_tai_valid() {
        println!("TAI        {} ns", now.tai_ns());
    } else {
        println!("TAI        unknown: nobody has told the kernel the number of leap seconds");
    }
    println!("counter    {}, tick {}", timebase::counter_id(), now.ticks);
    println!("status     {}", now.status());

    // Only this status makes the second bound a promise.
    let (true_utc, status) = clock.utc_interval();
    if status == Status::Synchronized {
        println!("true UTC lies within {} ns", true_utc.width_ns());
    }
}

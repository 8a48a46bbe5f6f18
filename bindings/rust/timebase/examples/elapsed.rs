// SPDX-License-Identifier: MIT
//! elapsed: how long a few instructions take, without what the watch itself takes.

use std::hint::black_box;
use timebase::{Clock, Elapsed, Stopwatch};

fn work() {
    let mut sum = 0u32;
    for i in 0..1000 {
        sum = black_box(sum.wrapping_mul(2_654_435_761).wrapping_add(i));
    }
}

fn print(what: &str, elapsed: Elapsed) {
    let Elapsed { ticks, ns, uncertainty_ns } = elapsed;
    println!("{what:<28} {ns:10.1} ns +/- {uncertainty_ns:.1} ({ticks} ticks)");
}

fn main() {
    let mut watch = Stopwatch::calibrate(&Clock::private());
    println!("an empty lap takes {} ticks; they are subtracted", watch.overhead_ticks());

    print("nothing", watch.time(|| ()).1);
    print("work, first time", watch.time(work).1);

    // Nested, by hand: the inner lap's own cost is taken off the outer one.
    let outer = watch.start();
    work();
    let inner = watch.start();
    work();
    let second = watch.stop(inner);
    let both = watch.stop(outer);
    print("work twice", both);
    print("the second of the two", second);
}

// SPDX-License-Identifier: MIT
//! A process whose counter is switched off: readings go by system call, and no signal comes. Its
//! argument is a page over the processor's counter.

#[cfg(target_arch = "x86_64")]
fn main() {
    use rustix::process::{set_time_stamp_counter_readability, TimeStampCounterReadability};
    use timebase::{Clock, CounterId, Error};

    let path = std::env::args_os().nth(1).expect("a page");
    set_time_stamp_counter_readability(TimeStampCounterReadability::RaiseSIGSEGV).expect("off");
    assert_eq!(timebase::counter_id(), CounterId::Os);
    let first = timebase::ticks_ordered();
    assert!(timebase::ticks().wrapping_sub(first) as i64 >= 0);
    assert!(timebase::ticks_os().wrapping_sub(first) as i64 >= 0);
    let error = Clock::attach_without_c(&path).expect_err("another counter");
    assert_eq!(error.error(), Error::Unsupported);
    assert!(error.to_string().contains("OS clock"), "{error}");
    #[cfg(feature = "sys")]
    {
        let clock = Clock::private();
        let (one, other) = (clock.mono_ns(), clock.mono_ns());
        assert!(other >= one && clock.now().status() != timebase::Status::Unknown);
        assert_eq!(Clock::attach(&path).expect_err("another counter").error(), Error::Unsupported);
    }
    println!("confined");
}

/// The other processors' counters are part of the user-mode architecture.
#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("confined");
}

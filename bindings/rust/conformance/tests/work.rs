// SPDX-License-Identifier: MIT
//! What goes through C: clocks, waits with closures, calendars; and that no panic crosses C.
#![cfg(feature = "sys")]

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::{Duration, SystemTime};
use timebase::{
    Calendar, Clock, Error, Instant, Maintenance, NotRun, Statistics, Status, Unit, UtcTime,
    WaitFlags, Waiter,
};

const MS: Duration = Duration::from_millis(1);
const LOOKS: usize = 10_000; // a millisecond apart

fn caught(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("a panic");
    panic.downcast_ref::<&str>().expect("its text").to_string()
}

/// The tests share the clock: a thread that renews it may lose its processor at any moment.
fn statistics(clock: &Clock) -> Statistics {
    for _ in 0..LOOKS {
        match clock.statistics() {
            Err(Error::Busy) => std::thread::sleep(MS),
            other => return other.expect("statistics"),
        }
    }
    panic!("busy for ever");
}

/// What `look` finds between two publications: a tick of older lines is drawn back by newer ones,
/// and a clock that has no lines yet gives the kernel's time.
fn by_the_same_lines<T>(clock: &Clock, mut look: impl FnMut() -> T) -> T {
    for _ in 0..LOOKS {
        let before = statistics(clock).publications();
        let found = look();
        if before > 0 && statistics(clock).publications() == before {
            return found;
        }
        std::thread::sleep(MS);
    }
    panic!("new lines between any two looks");
}

#[test]
fn errors_have_the_words_of_c() {
    let mut known = 0;
    for code in -40..0 {
        // SAFETY: constant text for every number.
        let text = unsafe { std::ffi::CStr::from_ptr(timebase_sys::timebase_strerror(code)) };
        match Error::from_code(code) {
            Some(error) => {
                assert_eq!(error.message(), text.to_str().unwrap());
                assert_eq!(error.code(), code);
                known += 1;
            }
            None => assert_eq!(text.to_str(), Ok("unknown timebase error")),
        }
    }
    assert_eq!(known, 19);
}

#[test]
fn counters_have_the_names_of_c() {
    for id in 0..256 {
        // SAFETY: constant text for every number.
        let text = unsafe { std::ffi::CStr::from_ptr(timebase_sys::timebase_counter_name(id)) };
        let own = timebase::CounterId::from_number(id as u32);
        assert_eq!(own.map_or("unknown", |id| id.name()), text.to_str().unwrap(), "{id}");
    }
}

#[test]
fn the_own_clock_and_the_kernels() {
    let clock = Clock::private();
    let (before, reading, after) = (SystemTime::now(), clock.now(), SystemTime::now());
    assert!(reading.status() != Status::Unknown);
    let utc: SystemTime = reading.utc().into();
    let slack = Duration::from_nanos(reading.maxerror_ns);
    assert!(utc + slack >= before && utc <= after + slack);
    assert_eq!(UtcTime::try_from(utc), Ok(reading.utc()));
    let (now, again, tick, then) = by_the_same_lines(&clock, || {
        let now = clock.now();
        let tick = clock.ticks_at_utc(now.utc_ns);
        (now, clock.at(now.ticks), tick, clock.at(tick))
    });
    assert_eq!(again.utc_ns, now.utc_ns);
    assert!(tick <= now.ticks && then.utc_ns >= now.utc_ns);
    assert_eq!(reading.tai_ns(), timebase::tai_from_utc(reading.utc_ns, reading.flags));
    assert!(Instant::now() >= Instant::from_mono_ns(reading.mono_ns));
    assert!(
        timebase::utc_ns() >= reading.utc_ns && timebase::mono_ms() >= reading.mono_ns / 1_000_000
    );
}

#[test]
fn housekeeping() {
    let clock = Clock::private();
    clock.set_maintenance(Maintenance::Manual).expect("the library's clock");
    assert!(matches!(clock.maintain(), Ok(()) | Err(Error::Busy)));
    clock.set_maintenance(Maintenance::Automatic).expect("the library's clock");
    by_the_same_lines(&clock, || clock.now()); // the first lines want two readings, 0.5 ms apart
    assert!(statistics(&clock).publications() > 0);
    assert_eq!(clock.attachment().expect("one").state, timebase::AttachmentState::Private);
    let (mock, _) = Clock::mock();
    assert_eq!(mock.maintain(), Err(Error::Unsupported));
    assert!(Waiter::new(&mock).is_err());
    assert!(clock.wait_bound(1, Some(clock.instant())).is_err());
}

#[test]
fn closures_are_called_in_time_and_once() {
    let mut waiter = Waiter::new(&Clock::private()).expect("a waiter");
    let mut calls = 0;
    let target = Instant::now() + 2 * MS;
    let result = waiter.call_at_mono(target, WaitFlags::PREPARE, || calls += 1).expect("a call");
    assert!(Instant::now() >= target - Duration::from_nanos(100));
    assert!(result.error_ticks > -10_000);
    let target = timebase::ticks().wrapping_add(3_000_000);
    let mut real = 0;
    waiter
        .call_at_ticks(target, WaitFlags::REHEARSE, || real += u32::from(!timebase::rehearsing()))
        .expect("a call");
    assert_eq!((calls, real), (1, 1));
    assert!(
        waiter
            .wait_until_ticks(timebase::ticks().wrapping_sub(1), WaitFlags::default())
            .unwrap()
            .is_late
    );
    assert_eq!(waiter.wait_until_ticks(u64::MAX, WaitFlags::default()), Err(Error::Invalid));
    assert_eq!(waiter.wait_until_ticks(0, WaitFlags(1 << 30)), Err(Error::Invalid));
    waiter.delay(Duration::from_micros(5), WaitFlags::default()).expect("a delay");
    assert_eq!(waiter.delay(Duration::MAX, WaitFlags::default()), Err(Error::Invalid));
    let base = timebase::ticks();
    let (before, after) = (waiter.take_fine(), waiter.take_fine());
    let placed = |taken: Result<_, _>| waiter.place_fine(&taken.expect("readings"), base);
    assert!(placed(before).expect("one").last_ticks < placed(after).expect("another").ticks);
    assert!(waiter.read_fine(base).expect("a reading").last_ticks > 0.0);
}

#[test]
fn panics_go_on_in_rust() {
    let mut waiter = Waiter::new(&Clock::private()).expect("a waiter");
    for flags in [WaitFlags::default(), WaitFlags::REHEARSE] {
        let mut calls = 0;
        let target = Instant::now() + 3 * MS;
        let text = caught(|| {
            let _ = waiter.call_at_mono(target, flags, || {
                calls += 1;
                panic!("in the event")
            });
        });
        assert_eq!((text.as_str(), calls), ("in the event", 1));
    }
    // And the waiter still works.
    assert!(waiter.wait_until_mono(Instant::now() + MS, WaitFlags::default()).is_ok());

    let mut calendar = Calendar::new();
    let mut others = 0;
    // A deadline so far off that no release is skipped, however long the machine is away.
    let panics = Unit::new("panics", MS / 10, || panic!("in a unit"));
    calendar.unit(panics.period(2 * MS).deadline(10_000 * MS));
    let other = Unit::new("other", MS / 10, || others += 1).ready(MS);
    calendar.unit(other.period(2 * MS).deadline(10_000 * MS));
    calendar.length(100 * MS).may_overlap(true);
    assert_eq!(caught(|| drop(calendar.run(&mut waiter))), "in a unit");
    drop(calendar);
    assert!(others <= 40, "the panic ended the run: {others}");
}

#[test]
fn calendars() {
    let mut waiter = Waiter::new(&Clock::private()).expect("a waiter");
    let mut runs = 0;
    let mut calendar = Calendar::new();
    calendar.unit(Unit::new("counts", MS / 10, || runs += 1).period(MS).releases(5));
    calendar.log_releases(16);
    let results = calendar.run(&mut waiter).expect("admitted");
    assert_eq!(results[0].released() + results[0].skipped(), 5);
    let logged: u64 = calendar.log().iter().map(|release| release.count).sum();
    assert_eq!(logged, 5);
    drop(calendar);
    assert!(runs <= 5);

    let mut calendar = Calendar::new();
    calendar.unit(Unit::new("a", MS, || ()).period(2 * MS));
    calendar.unit(Unit::new("b", MS, || ()).ready(MS / 2).period(2 * MS));
    let problems = calendar.admit(Some(&waiter)).expect("checked");
    assert!(problems.iter().any(|problem| problem.kind == "overlap" && !problem.is_warning));
    let refused = calendar.run(&mut waiter).map(drop).expect_err("an overlap");
    assert!(
        matches!(&refused, NotRun::NotAdmitted(_)) && refused.to_string().contains("overlap"),
        "{refused}"
    );
    assert!(matches!(Calendar::new().run(&mut waiter), Err(NotRun::NotAdmitted(_))));

    // SAFETY: the closure is a loop without anything that must be unwound.
    let forever = unsafe {
        Unit::new("forever", MS, || loop {
            std::hint::spin_loop();
        })
        .timeout(2 * MS)
    };
    let mut calendar = Calendar::new();
    calendar.unit(forever);
    let results = calendar.run(&mut waiter).expect("stopped by its time-out");
    assert_eq!(results[0].0.timed_out, 1);

    let mut calendar = Calendar::new();
    let stop = calendar.stop();
    calendar.unit(
        Unit::new("stops", MS / 10, move || stop.store(1, std::sync::atomic::Ordering::Release))
            .period(2 * MS),
    );
    let results = calendar.run(&mut waiter).expect("stopped");
    assert!(results[0].released() >= 1);
}

#[test]
fn a_mock_stands_still() {
    let (clock, mock) = Clock::mock();
    mock.set_utc_ns(1_767_312_000_000_000_000);
    mock.advance(Duration::from_nanos(7));
    assert_eq!(clock.utc().to_string(), "2026-01-02T00:00:00.000000007Z");
    assert_eq!((clock.mono_ns(), clock.utc_ns()), (7, 1_767_312_000_000_000_007));
    mock.set_maxerror_ns(5);
    assert_eq!(clock.utc_interval().0.width_ns(), 10);
    assert_eq!(clock.ticks_at_utc(clock.utc_ns()), 7);
    mock.advance(Duration::MAX);
    assert_eq!(clock.mono_ns(), i64::MAX);
}

#[test]
fn a_stopwatch_takes_its_own_cost_off() {
    let mut watch = timebase::Stopwatch::calibrate(&Clock::private());
    assert!(watch.overhead_ticks() > 0 && watch.period_ns() > 0.0);
    let mut shortest = f64::MAX;
    for _ in 0..1000 {
        let ((), elapsed) = watch.time(|| ());
        shortest = shortest.min(elapsed.ns);
    }
    assert!(shortest <= watch.overhead_ticks() as f64 * watch.period_ns());
    let outer = watch.start();
    let (_, inner) = watch.time(|| std::thread::sleep(MS));
    let both = watch.stop(outer);
    assert!(inner.ns > 0.9e6 && both.ns >= inner.ns - both.uncertainty_ns);
    assert_eq!(watch.laps(), 1002);
    inner.record(&metrics::Histogram::noop());
}

#[test]
fn events_are_stamped() {
    use std::io::Write;
    use std::sync::{Arc, Mutex};
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (clock, mock) = Clock::mock();
    mock.set_utc_ns(1_767_312_000_123_456_789);
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_timer(timebase::TracingTimer::new(clock).decimals(6))
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || tracing::info!("stamped"));
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(text.starts_with("2026-01-02T00:00:00.123456Z  INFO"), "{text}");
}

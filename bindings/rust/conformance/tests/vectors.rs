// SPDX-License-Identifier: MIT
//! Every vector: of both byte orders as bytes, of this machine's in place too.

use timebase::{Error, Page};
use timebase_conformance::vectors::{self, Vector};

#[repr(C, align(64))]
struct Aligned([u8; Page::SIZE]);

fn named(error: Error) -> &'static str {
    match error {
        Error::Format => "TIMEBASE_E_FORMAT",
        Error::Unsupported => "TIMEBASE_E_UNSUPPORTED",
        Error::Stale => "TIMEBASE_E_STALE",
        other => panic!("no error of a page that stands still: {other}"),
    }
}

fn compare(vector: &Vector, page: &Page) -> usize {
    for read in &vector.reads {
        let name = format!("{}, tick {}", vector.name, read.ticks);
        let got = page.at(read.ticks).expect("lines");
        assert_eq!(got.ticks, read.ticks, "{name}");
        assert_eq!(got.mono_ns, read.mono_ns, "{name}: mono_ns");
        assert_eq!(got.utc_ns, read.utc_ns, "{name}: utc_ns");
        assert_eq!(got.tai_ns(), read.tai_ns, "{name}: tai_ns");
        assert_eq!(got.maxerror_ns, read.maxerror_ns, "{name}: maxerror_ns");
        assert_eq!(got.utc_maxerror_ns, read.utc_maxerror_ns, "{name}: utc_maxerror_ns");
        assert_eq!(got.esterror_ns, read.esterror_ns, "{name}: esterror_ns");
        assert_eq!(got.flags.0, read.flags, "{name}: flags");
        // What a reader of now would get at this tick: the same, or nothing.
        let now = page.now_by(read.ticks);
        assert_eq!(now.is_some(), read.is_current, "{name}: is_current");
        if let Some(now) = now {
            assert_eq!(now, got, "{name}: now");
        }
    }
    for inverse in &vector.inverse {
        let parse = |text: &String| text.parse::<i64>().expect("a number");
        let got = match (&inverse.mono_ns, &inverse.utc_ns) {
            (Some(mono), None) => page.ticks_at_mono(parse(mono)),
            (None, Some(utc)) => page.ticks_at_utc(parse(utc)),
            _ => panic!("{}: one target", vector.name),
        };
        assert_eq!(got, Some(inverse.ticks), "{}: inverse", vector.name);
    }
    vector.reads.len() + vector.inverse.len()
}

/// By the reader of machines of the vector's order.
fn page_of(vector: &Vector) -> Result<Page, Error> {
    let is_own = (vector.endian == "big") == cfg!(target_endian = "big");
    if is_own {
        Page::from_bytes(&vector.page_hex)
    } else {
        Page::from_bytes_swapped(&vector.page_hex)
    }
}

fn refuse(vector: &Vector) {
    let error = page_of(vector).expect_err(&vector.name);
    assert_eq!(named(error), vector.valid, "{}", vector.name);
}

fn in_place(vector: &Vector) {
    let mut memory = Aligned([0; Page::SIZE]);
    if vector.page_hex.len() > Page::SIZE {
        return;
    }
    memory.0[..vector.page_hex.len()].copy_from_slice(&vector.page_hex);
    // SAFETY: aligned memory of our own, which nobody writes.
    let page = unsafe { Page::from_ptr(memory.0.as_ptr()) };
    match page.validate() {
        Ok(()) => assert_eq!(vector.valid, "0", "{}", vector.name),
        Err(error) => assert_eq!(named(error), vector.valid, "{}", vector.name),
    }
    if vector.valid == "0" {
        compare(vector, page);
    }
}

#[test]
fn of_pages() {
    let (mut native, mut compared) = (0, 0);
    let own = if cfg!(target_endian = "big") { "big" } else { "little" };
    let vectors = vectors::pages();
    for vector in &vectors {
        if vector.valid == "0" {
            let page = page_of(vector).expect(&vector.name);
            compared += compare(vector, &page);
        } else {
            refuse(vector);
        }
        if vector.endian == own {
            in_place(vector);
            native += 1;
        }
    }
    println!("{} vectors, {native} of this byte order in place, {compared} times", vectors.len());
    assert!(vectors.len() > 200 && native > 100 && compared > 1000);
}

#[cfg(feature = "sys")]
#[test]
fn of_timelines() {
    use timebase::{BootId, Timeline};
    use timebase_conformance::stand::Folder;
    let mut compared = 0;
    for vector in vectors::timelines() {
        let folder = Folder::new("timeline");
        for segment in &vector.segments {
            std::fs::write(folder.0.join(&segment.name), &segment.hex).expect("a segment");
        }
        let mut timeline = Timeline::open(&folder.0).expect("a timeline");
        for read in &vector.reads {
            let name = format!("{}, tick {}", vector.name, read.ticks);
            let boot: Option<BootId> = read.boot.as_ref().map(|boot| {
                let hex = boot.replace('-', "");
                vectors::bytes_of(&hex).try_into().expect("16 bytes")
            });
            let got = timeline.at(boot.as_ref(), read.ticks);
            let many = timeline.at_many(boot.as_ref(), &[read.ticks]).expect("an answer");
            assert_eq!(many, [got], "{name}");
            compared += 1;
            match &read.error {
                Some(error) => {
                    let got = format!("{:?}", got.expect_err(&name)).to_uppercase();
                    let wanted = error.trim_start_matches("TIMEBASE_E_").replace('_', "");
                    assert_eq!(got, wanted, "{name}");
                }
                None => {
                    let got = got.expect(&name);
                    let same = |text: &Option<String>, value: i128| {
                        let wanted: i128 = text.as_ref().expect("a value").parse().expect("number");
                        assert_eq!(value, wanted, "{name}");
                    };
                    same(&read.mono_ns, got.mono_ns.into());
                    same(&read.utc_ns, got.utc_ns.into());
                    same(&read.maxerror_ns, got.maxerror_ns.into());
                    same(&read.utc_maxerror_ns, got.utc_maxerror_ns.into());
                    assert_eq!(Some(got.flags.0), read.flags, "{name}");
                }
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

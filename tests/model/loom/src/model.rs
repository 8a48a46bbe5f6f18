// SPDX-License-Identifier: MIT
//! A writer and readers that do what the operations say, under loom.
//!
//! Word-reduced: of the copies only the words chosen are there, every number, fence and order is.
//! That is safe, not only small. A word of publication n holds n, and a reader that accepts number
//! s wants s in each of its words; so a torn reading is one in which some single word is wrong, and
//! to look at each word by itself looks at all. And an access left out can only have taken
//! constraints with it (a relaxed store may be what makes two fences synchronise): the reduced
//! program shows every execution of the whole one, seen at those words.
//!
//! refresh_ticks lies outside the copies. Publications have larger and larger ones, or smaller and
//! smaller ones; and a reader that accepts number s wants none that is larger than that of s.

use crate::operations::{is_number, is_refresh, Code, Operation, Order, Place, Reading, Source};
use loom::sync::atomic::{fence, AtomicU64, Ordering};
use loom::sync::Arc;
use std::collections::BTreeMap;

/// What is explored.
#[derive(Clone, Debug)]
pub struct Size {
    /// Publications before the threads start; the reader begins at this number.
    pub before: u64,
    /// Publications beside the readers.
    pub beside: u64,
    /// Readings that a reader makes in a row, each no older than the last.
    pub in_a_row: u32,
    /// A first reader hands its number on, relaxed; a second must not find an older one.
    pub handed_on: bool,
    /// How often a thread may be stopped where it could go on; None: as often as there are steps.
    pub preemptions: Option<usize>,
    /// Each publication has a smaller refresh_ticks than the one before.
    pub shrinking: bool,
}

/// More than there are publications.
const MANY: u64 = 100;

impl Size {
    fn refresh(&self, number: u64) -> u64 {
        if self.shrinking {
            MANY - number
        } else {
            number
        }
    }
}

/// The first thing found wrong. Not told by a panic: loom cannot always unwind the other threads.
type Finding = std::sync::Arc<std::sync::Mutex<Option<String>>>;

struct Page {
    words: BTreeMap<Place, AtomicU64>,
    handed: AtomicU64,
    finding: Finding,
    size: Size,
}

fn ordering(order: Order) -> Ordering {
    match order {
        Order::Relaxed => Ordering::Relaxed,
        Order::Acquire => Ordering::Acquire,
        Order::Release => Ordering::Release,
        Order::AcqRel => Ordering::AcqRel,
        Order::SeqCst => Ordering::SeqCst,
    }
}

/// The memory behind a place: the copies are there twice, whichever is this and whichever next.
fn place_of(place: &Place, number: u64) -> Place {
    match place {
        Place::Fixed(word) => Place::Fixed(word.clone()),
        Place::This(word) => Place::Fixed(format!("copy[{}]+{word}", number & 1)),
        Place::Next(word) => Place::Fixed(format!("copy[{}]+{word}", (number + 1) & 1)),
    }
}

impl Page {
    fn new(words: &[Place], size: &Size, finding: Finding) -> Page {
        let (words_of, size) = (BTreeMap::new(), size.clone());
        let mut page = Page { words: words_of, handed: AtomicU64::new(0), finding, size };
        for number in 0..2 {
            for word in words {
                let value = if is_refresh(word) { page.size.refresh(0) } else { 0 };
                page.words.insert(place_of(word, number), AtomicU64::new(value));
            }
        }
        for number in ["0", "0.low"] {
            page.words.insert(Place::Fixed(number.to_string()), AtomicU64::new(0));
        }
        page
    }

    fn expect(&self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.finding.lock().unwrap().get_or_insert_with(otherwise);
        }
    }

    /// Only what was chosen is there.
    fn word(&self, place: &Place, number: u64) -> Option<&AtomicU64> {
        self.words.get(&place_of(place, number))
    }

    fn publish(&self, publication: &[Operation]) {
        let mut number = 0;
        for operation in publication {
            match operation {
                Operation::Fence(order) => fence(ordering(*order)),
                Operation::Load(order, place) if is_number(place) => {
                    number = self.word(place, 0).unwrap().load(ordering(*order));
                }
                Operation::Load(..) => {}
                Operation::Store(order, place, source) => {
                    if let Some(word) = self.word(place, number) {
                        word.store(self.stored(place, *source, number), ordering(*order));
                    }
                }
            }
        }
    }

    /// By the publication after `number`.
    fn stored(&self, place: &Place, source: Source, number: u64) -> u64 {
        let (present, next) = (self.size.refresh(number), self.size.refresh(number + 1));
        match (is_refresh(place), source) {
            (false, _) => number + 1,
            (true, Source::Own) => next,
            (true, Source::Lesser) => present.min(next),
        }
    }

    /// One attempt: the number, and whether it was accepted.
    fn attempt(&self, reading: &Reading) -> (u64, bool) {
        let mut looks = Vec::new();
        let (mut seen, mut refresh) = (Vec::new(), Vec::new());
        for operation in &reading.operations {
            match operation {
                Operation::Fence(order) => fence(ordering(*order)),
                Operation::Load(order, place) => {
                    let number = *looks.first().unwrap_or(&0);
                    if let Some(word) = self.word(place, number) {
                        let value = word.load(ordering(*order));
                        let kept = match place {
                            place if is_number(place) => &mut looks,
                            place if is_refresh(place) => &mut refresh,
                            _ => &mut seen,
                        };
                        kept.push(value);
                    }
                }
                Operation::Store(..) => panic!("a reader stores"),
            }
        }
        let (first, last) = (looks[0], *looks.last().unwrap());
        let accepted = reading.accepts.contains(&(last as i64 - first as i64));
        if accepted && looks.len() > 1 || looks.len() == 1 {
            for value in seen {
                self.expect(value == first, || {
                    format!("torn: number {first} accepted with a word of {value}")
                });
            }
            for value in refresh {
                self.expect(value <= self.size.refresh(first), || {
                    format!("torn: number {first} accepted with a refresh of {value}")
                });
            }
            return (first, true);
        }
        (first, false)
    }

    /// What the loops of the code do; each rejection needs a publication of its own.
    fn read(&self, reading: &Reading, beside: u64) -> u64 {
        for _ in 0..=beside {
            let (number, accepted) = self.attempt(reading);
            if accepted {
                return number;
            }
        }
        self.expect(false, || "unbounded: more rejections than publications".to_string());
        0
    }
}

fn run(code: &Code, reading: &Reading, words: &[Place], size: &Size, finding: &Finding) {
    let page = Arc::new(Page::new(words, size, finding.clone()));
    for _ in 0..size.before {
        page.publish(&code.publication);
    }
    let (writers, publication, beside) = (page.clone(), code.publication.clone(), size.beside);
    let writer = loom::thread::spawn(move || {
        for _ in 0..beside {
            writers.publish(&publication);
        }
    });
    let handing = size.handed_on.then(|| {
        let (page, reading) = (page.clone(), reading.clone());
        loom::thread::spawn(move || {
            let number = page.read(&reading, beside);
            page.handed.store(number, Ordering::Release);
        })
    });
    let mut newest = page.handed.load(Ordering::Acquire);
    for _ in 0..size.in_a_row {
        let number = page.read(reading, beside);
        page.expect(number >= newest, || format!("backward: number {number} after {newest}"));
        newest = number;
    }
    writer.join().unwrap();
    if let Some(handing) = handing {
        handing.join().unwrap();
    }
}

/// Explores; Ok is the number of executions, Err what was found.
pub fn explore(
    code: &Code,
    reading: &Reading,
    words: &[Place],
    size: &Size,
) -> Result<usize, String> {
    let executions = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let finding = Finding::default();
    let (counted, found) = (executions.clone(), finding.clone());
    let (code, reading, words, wanted) =
        (code.clone(), reading.clone(), words.to_vec(), size.clone());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = size.preemptions;
    let explored = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        builder.check(move || {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            run(&code, &reading, &words, &wanted, &found);
        })
    }));
    let finding = finding.lock().unwrap().take();
    match (finding, explored) {
        (Some(finding), _) => Err(finding),
        (None, Ok(())) => Ok(executions.load(std::sync::atomic::Ordering::Relaxed)),
        (None, Err(_)) => Err("loom gave up: see above".to_string()),
    }
}

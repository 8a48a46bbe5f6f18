// SPDX-License-Identifier: MIT
//! page-model I/N FILE...: what the operations in each file allow under a weak memory model, every N-th
//! claim from the I-th on. A line for each; the last says how many held. Exits with 1 if any did not.
//!
//! Parts are for other processes, not threads: each execution maps stacks and unmaps them, for which
//! the threads of a process wait for each other.

mod model;
mod operations;
mod variants;

use model::{explore, Size};
use operations::{Code, Place, Reading};
use std::process::exit;

/// One publication before, so that a reader may be in a copy while it is rewritten: two beside.
const SMALL: Size = Size {
    before: 1,
    beside: 2,
    in_a_row: 1,
    handed_on: false,
    preemptions: None,
    shrinking: false,
};
const SHRINKING: Size = Size { shrinking: true, ..SMALL };

/// What is claimed, and how to see whether it holds: Ok or Err with words for the reader.
struct Claim {
    what: String,
    check: Box<dyn Fn() -> Result<String, String>>,
}

fn holds(code: &Code, reading: &Reading, words: &[Place], size: &Size) -> Claim {
    let (code, reading, size) = (code.clone(), reading.clone(), size.clone());
    let words = words.to_vec();
    let bound = size.preemptions.map_or("all".to_string(), |n| format!("up to {n} preemptions,"));
    let what = format!(
        "{}: never torn, backward or unbounded, {} publications beside {}{}",
        reading.name,
        size.beside,
        if size.handed_on { "two readers" } else { "a reader" },
        if size.in_a_row > 1 { " reading twice" } else { "" },
    );
    let check = move || {
        let mut executions = 0;
        for word in &words {
            executions += explore(&code, &reading, &[word.clone()], &size)?;
        }
        Ok(format!("{bound} {executions} executions at {} words", words.len()))
    };
    Claim { what, check: Box::new(check) }
}

/// Two words at once say nothing that each alone does not; a check of that argument.
fn holds_for_pair(code: &Code, reading: &Reading) -> Claim {
    let (code, reading) = (code.clone(), reading.clone());
    let what = format!("{}: never torn, two words at a time", reading.name);
    let check = move || {
        let words = reading.words();
        let pair = [words[0].clone(), words[words.len() - 1].clone()];
        let executions = explore(&code, &reading, &pair, &SMALL)?;
        Ok(format!("all {executions} executions"))
    };
    Claim { what, check: Box::new(check) }
}

/// No accepted lines come with a refresh_ticks that is larger than theirs.
fn holds_for_refresh(code: &Code, reading: &Reading) -> Claim {
    let (code, reading) = (code.clone(), reading.clone());
    let what = format!("{}: never with a refresh beyond its lines", reading.name);
    let check = move || {
        let mut executions = 0;
        for word in reading.refresh() {
            for size in [SMALL, SHRINKING] {
                executions += explore(&code, &reading, &[word.clone()], &size)?;
            }
        }
        Ok(format!("all {executions} executions"))
    };
    Claim { what, check: Box::new(check) }
}

/// All that a reading may find wrong, a word at a time.
fn looked_at(reading: &Reading) -> Vec<(Place, Size)> {
    let mut all: Vec<_> = reading.words().into_iter().map(|word| (word, SMALL)).collect();
    for word in reading.refresh() {
        all.push((word.clone(), SMALL));
        all.push((word, SHRINKING));
    }
    all
}

/// The variant lets some word of another publication through; any other end is none.
fn fails(variant: variants::Variant) -> Claim {
    let what = format!("{}: must be torn", variant.what);
    let check = move || {
        let readings = vec![variant.reading.clone()];
        let code = Code { publication: variant.publication.clone(), readings };
        for (word, size) in looked_at(&variant.reading) {
            match explore(&code, &variant.reading, &[word], &size) {
                Ok(_) => continue,
                Err(found) if found.starts_with("torn") => return Ok(found),
                Err(other) => return Err(other),
            }
        }
        Err("nothing is wrong without it".to_string())
    };
    Claim { what, check: Box::new(check) }
}

fn claims(code: &Code) -> Vec<Claim> {
    let mut all = Vec::new();
    // Halves of words are many, and differ from words in nothing that a third would show.
    let is_half = |place: &Place| matches!(place, Place::This(word) if word.ends_with(".low"));
    let beside = if code.readings[0].words().iter().any(is_half) { 2 } else { 3 };
    for reading in &code.readings {
        let words = reading.words();
        all.push(holds(code, reading, &words, &Size { beside, ..SMALL }));
        all.push(holds_for_pair(code, reading));
        if !reading.refresh().is_empty() {
            all.push(holds_for_refresh(code, reading));
        }
        all.extend(variants::of_reader(code, reading).into_iter().map(fails));
    }
    // What one reader does to another, and to itself, does not depend on the word.
    let reading = &code.readings[0];
    let word = &reading.words()[..1];
    all.push(holds(code, reading, word, &Size { in_a_row: 2, ..SMALL }));
    all.push(holds(code, reading, word, &Size { handed_on: true, preemptions: Some(3), ..SMALL }));
    all.extend(variants::of_writer(code, reading).into_iter().map(fails));
    all
}

/// Says whether it holds.
fn check(claim: Claim) -> bool {
    let result = (claim.check)();
    let (verdict, words) = match &result {
        Ok(words) => ("ok  ", words),
        Err(words) => ("FAIL", words),
    };
    println!("{verdict}  {}: {words}", claim.what);
    result.is_ok()
}

fn usage() -> ! {
    eprintln!("usage: page-model I/N operations.txt...");
    exit(2);
}

/// Which of how many parts.
fn part_of(text: &str) -> Option<(usize, usize)> {
    let (part, parts) = text.split_once('/')?;
    let (part, parts) = (part.parse().ok()?, parts.parse().ok()?);
    (1..=parts).contains(&part).then_some((part, parts))
}

fn code_in(file: &str) -> Result<Code, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    Code::parse(&text).map_err(|error| error.to_string())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let part = arguments.next().and_then(|text| part_of(&text));
    let files: Vec<String> = arguments.collect();
    let (part, parts) = part.filter(|_| !files.is_empty()).unwrap_or_else(|| usage());
    let mut all = Vec::new();
    for file in &files {
        let code = code_in(file).unwrap_or_else(|error| {
            eprintln!("{file}: {error}");
            exit(2);
        });
        all.extend(claims(&code));
    }
    let ours = all.into_iter().skip(part - 1).step_by(parts);
    let held: Vec<bool> = ours.map(check).collect();
    let passed = held.iter().filter(|held| **held).count();
    println!("{passed} passed, {} failed", held.len() - passed);
    exit((passed < held.len()) as i32);
}

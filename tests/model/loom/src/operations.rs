// SPDX-License-Identifier: MIT
//! operations.txt: what the C code does to a page, as tests/model/operations printed it.

use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Where in the page: a word outside the copies, or one of the copy that a number names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Fixed(String),
    This(String),
    Next(String),
}

/// What a writer stores: its own publication's word, or what suits the one before it as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Own,
    Lesser,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    Load(Order, Place),
    Store(Order, Place, Source),
    Fence(Order),
}

#[derive(Clone, Debug)]
pub struct Reading {
    pub name: String,
    pub operations: Vec<Operation>,
    /// By how much the second look at the number may exceed the first.
    pub accepts: BTreeSet<i64>,
}

#[derive(Clone, Debug)]
pub struct Code {
    pub publication: Vec<Operation>,
    pub readings: Vec<Reading>,
}

fn order(word: &str) -> Result<Order, String> {
    Ok(match word {
        "relaxed" => Order::Relaxed,
        "acquire" => Order::Acquire,
        "release" => Order::Release,
        "acq_rel" => Order::AcqRel,
        "seq_cst" => Order::SeqCst,
        _ => return Err(format!("no order is called `{word}`")),
    })
}

fn place(word: &str) -> Place {
    match word.split_once('+') {
        Some(("this", offset)) => Place::This(offset.to_string()),
        Some(("next", offset)) => Place::Next(offset.to_string()),
        _ => Place::Fixed(word.to_string()),
    }
}

fn operation(words: &[&str]) -> Result<Operation, String> {
    match words {
        ["fence", o] => Ok(Operation::Fence(order(o)?)),
        ["load", o, at, _size, _name] => Ok(Operation::Load(order(o)?, place(at))),
        // Every word of publication s + 1 must come from its own lines, the number from s.
        ["store", o, at, _size, value] if !value.contains('?') => {
            let is_lesser = value.ends_with(".lesser");
            let source = if is_lesser { Source::Lesser } else { Source::Own };
            Ok(Operation::Store(order(o)?, place(at), source))
        }
        _ => Err("neither load, store nor fence".to_string()),
    }
}

impl Code {
    pub fn parse(text: &str) -> Result<Code, String> {
        let mut code = Code { publication: Vec::new(), readings: Vec::new() };
        for (number, line) in text.lines().enumerate() {
            code.take(line).map_err(|what| format!("line {}: {what}: {line}", number + 1))?;
        }
        if code.publication.is_empty() || code.readings.is_empty() {
            return Err("no publication or no reading".to_string());
        }
        Ok(code)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let reading = self.readings.last_mut();
        if words.is_empty() || words[0].starts_with('#') || line == "publication" {
        } else if let Some(name) = line.strip_prefix("reading ") {
            let (name, operations) = (name.to_string(), Vec::new());
            self.readings.push(Reading { name, operations, accepts: BTreeSet::new() });
        } else if let Some(more) = line.trim().strip_prefix("accept if the second s is more by:") {
            let numbers: Result<_, _> = more.split_whitespace().map(str::parse).collect();
            reading.ok_or("no reading yet")?.accepts = numbers.map_err(|_| "not numbers")?;
        } else if let Some(reading) = reading {
            reading.operations.push(operation(&words)?);
        } else {
            self.publication.push(operation(&words)?);
        }
        Ok(())
    }
}

/// The number itself, or on 32-bit machines the half that readers take.
pub fn is_number(place: &Place) -> bool {
    matches!(place, Place::Fixed(word) if word == "0" || word == "0.low")
}

/// refresh_ticks or one of its halves: outside the copies, and not the number.
pub fn is_refresh(place: &Place) -> bool {
    matches!(place, Place::Fixed(word) if word == "8" || word.starts_with("8."))
}

impl Reading {
    fn places(&self, is_wanted: impl Fn(&Place) -> bool) -> Vec<Place> {
        let places: BTreeSet<Place> = self
            .operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Load(_, place) if is_wanted(place) => Some(place.clone()),
                _ => None,
            })
            .collect();
        places.into_iter().collect()
    }

    /// The words of a copy that the reader looks at.
    pub fn words(&self) -> Vec<Place> {
        self.places(|place| matches!(place, Place::This(_)))
    }

    /// What it looks at of refresh_ticks: nothing, the word, or two halves.
    pub fn refresh(&self) -> Vec<Place> {
        self.places(is_refresh)
    }
}

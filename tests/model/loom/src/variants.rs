// SPDX-License-Identifier: MIT
//! The same code with one thing missing: each must be found wrong, or the models prove nothing.

use crate::operations::{is_number, Code, Operation, Order, Place, Reading, Source};

pub struct Variant {
    pub what: String,
    pub publication: Vec<Operation>,
    pub reading: Reading,
}

/// Without the order: a fence goes, a load or store becomes relaxed. None if there is none.
fn weaker(operation: &Operation) -> Option<Option<Operation>> {
    match operation {
        Operation::Fence(_) => Some(None),
        Operation::Load(order, place) if *order != Order::Relaxed => {
            Some(Some(Operation::Load(Order::Relaxed, place.clone())))
        }
        Operation::Store(order, place, source) if *order != Order::Relaxed => {
            Some(Some(Operation::Store(Order::Relaxed, place.clone(), *source)))
        }
        _ => None,
    }
}

/// Each fence and each order of a list taken away, one at a time.
fn weakened(operations: &[Operation]) -> Vec<(String, Vec<Operation>)> {
    let mut all = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        if let Some(instead) = weaker(operation) {
            let mut list = operations.to_vec();
            list.splice(index..=index, instead);
            all.push((format!("{operation:?}"), list));
        }
    }
    all
}

fn number_first(publication: &[Operation]) -> Vec<Operation> {
    let is_raise = |o: &Operation| matches!(o, Operation::Store(_, place, _) if is_number(place));
    let is_word = |o: &Operation| matches!(o, Operation::Store(_, Place::Next(_), _));
    let mut list = publication.to_vec();
    let raise = list.remove(list.iter().position(is_raise).expect("no number is stored"));
    list.insert(list.iter().position(is_word).expect("no word is stored"), raise);
    list
}

fn into_present_copy(publication: &[Operation]) -> Vec<Operation> {
    let moved = |operation: &Operation| match operation {
        Operation::Store(order, Place::Next(word), source) => {
            Operation::Store(*order, Place::This(word.clone()), *source)
        }
        other => other.clone(),
    };
    publication.iter().map(moved).collect()
}

/// The next refresh_ticks stands there before the number does.
fn refresh_not_lowered(publication: &[Operation]) -> Vec<Operation> {
    let is_lesser = |o: &&Operation| !matches!(o, Operation::Store(_, _, Source::Lesser));
    publication.iter().filter(is_lesser).cloned().collect()
}

pub fn of_reader(code: &Code, reading: &Reading) -> Vec<Variant> {
    let variant = |what: String, reading: Reading| Variant {
        what: format!("{}: {what}", reading.name),
        publication: code.publication.clone(),
        reading,
    };
    let mut all = Vec::new();
    for (what, operations) in weakened(&reading.operations) {
        all.push(variant(format!("without {what}"), Reading { operations, ..reading.clone() }));
    }
    let mut slack = reading.clone();
    slack.accepts.insert(1);
    all.push(variant("accepts one publication more".to_string(), slack));
    let mut blind = reading.clone();
    blind.accepts.extend(-100..100);
    all.push(variant("accepts whatever the second look says".to_string(), blind));
    all
}

pub fn of_writer(code: &Code, reading: &Reading) -> Vec<Variant> {
    let mut all = weakened(&code.publication);
    for (what, _) in &mut all {
        *what = format!("without {what}");
    }
    all.push(("the number before the words".to_string(), number_first(&code.publication)));
    let unlowered = refresh_not_lowered(&code.publication);
    if unlowered != code.publication {
        all.push(("without a lesser refresh".to_string(), unlowered));
    }
    all.push(("into the present copy".to_string(), into_present_copy(&code.publication)));
    let variant = |(what, publication)| Variant {
        what: format!("publication {what}, reading {}", reading.name),
        publication,
        reading: reading.clone(),
    };
    all.into_iter().map(variant).collect()
}

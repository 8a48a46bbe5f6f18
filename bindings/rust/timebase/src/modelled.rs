// SPDX-License-Identifier: MIT
//! Words for loom. A load of loom's may see any store that the memory model allows, and it tries
//! all of them: with each word of a page that would not end. So a test names the words that are
//! loom's; the others are the machine's own, which a lone thread at a time touches.

use core::sync::atomic::{AtomicU64, Ordering};
use std::cell::{Cell, RefCell};

/// What can be left out of the protocol on purpose, to see that the tests find it: the letters of
/// its fences and orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Without {
    A,
    B,
    C,
    D,
    E,
}

std::thread_local! {
    static FAULT: Cell<Option<Without>> = const { Cell::new(None) };
    /// Which of the next page's words, counted in the order of its fields, are loom's.
    static MODELLED: RefCell<(usize, Vec<usize>)> = const { RefCell::new((0, Vec::new())) };
}

/// From now on the words of the next page are counted.
pub(crate) fn begin(modelled: &[usize]) {
    MODELLED.with(|state| *state.borrow_mut() = (0, modelled.to_vec()));
}

/// From now on, in this thread.
pub(crate) fn set_fault(fault: Option<Without>) {
    FAULT.set(fault);
}

/// The order, or none where it is the one that is left out.
fn order_but(without: Without, order: Ordering) -> Ordering {
    if FAULT.get() == Some(without) {
        Ordering::Relaxed
    } else {
        order
    }
}

pub(crate) fn fence(order: Ordering) {
    let own = if order == Ordering::Acquire { Without::C } else { Without::B };
    if FAULT.get() != Some(own) {
        loom::sync::atomic::fence(order);
    }
}

enum Atomic {
    Plain(AtomicU64),
    Modelled(loom::sync::atomic::AtomicU64),
}

impl Atomic {
    fn new(value: u64) -> Self {
        MODELLED.with(|state| {
            let (next, modelled) = &mut *state.borrow_mut();
            *next += 1;
            if modelled.contains(&(*next - 1)) {
                Self::Modelled(loom::sync::atomic::AtomicU64::new(value))
            } else {
                Self::Plain(AtomicU64::new(value))
            }
        })
    }

    fn load(&self, order: Ordering) -> u64 {
        match self {
            Self::Plain(word) => word.load(order),
            Self::Modelled(word) => word.load(order),
        }
    }

    fn store(&self, value: u64, order: Ordering) {
        match self {
            Self::Plain(word) => word.store(value, order),
            Self::Modelled(word) => word.store(value, order),
        }
    }
}

pub(crate) struct Word(Atomic);

impl Default for Word {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Word {
    pub(crate) fn new(value: u64) -> Self {
        Self(Atomic::new(value))
    }

    pub(crate) fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn store(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn store_release(&self, value: u64) {
        self.0.store(value, order_but(Without::E, Ordering::Release));
    }

    pub(crate) fn load_seq(&self, order: Ordering) -> u64 {
        self.0.load(order_but(Without::A, order))
    }

    pub(crate) fn store_seq(&self, seq: u64) {
        self.0.store(seq, order_but(Without::D, Ordering::Release));
    }
}

pub(crate) struct Half(Word);

impl Default for Half {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Half {
    pub(crate) fn new(value: u32) -> Self {
        Self(Word::new(value.into()))
    }

    pub(crate) fn load(&self) -> u32 {
        self.0.load() as u32
    }

    pub(crate) fn store(&self, value: u32) {
        self.0.store(value.into());
    }
}

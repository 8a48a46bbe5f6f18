// SPDX-License-Identifier: MIT
//! What readers without the lock were told beyond a lease: who replaces their lines begins no lower.

use core::sync::atomic::{AtomicI64, Ordering};

/// The highest monotonic time that was told; negative while lines are replaced: then the complement
/// is the most that may be told. So who replaces them knows of each time before new lines are drawn:
/// it was noted before the lines were closed, or it is no later than the floor.
pub(super) struct Told(AtomicI64);

impl Told {
    pub(super) const fn nothing() -> Self {
        Self(AtomicI64::new(0))
    }

    /// Before this time is told. Err: no later one may be told than this.
    pub(super) fn note(&self, mono_ns: i64) -> Result<(), i64> {
        let higher = |told: i64| (told >= 0).then(|| told.max(mono_ns));
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, higher)
            .map(drop)
            .map_err(|told| !told)
    }

    pub(super) fn most_ns(&self) -> i64 {
        let told = self.0.load(Ordering::SeqCst);
        told.max(!told)
    }

    /// From now on nobody is told more than this: the highest time that was told, or `least_ns`. For
    /// the thread that has the lock; one that panicked may have left it closed.
    pub(super) fn close(&self, least_ns: i64) -> i64 {
        let closed = |told: i64| Some(!told.max(!told).max(least_ns));
        let told = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, closed);
        let (Ok(told) | Err(told)) = told;
        told.max(!told).max(least_ns)
    }

    pub(super) fn open(&self) {
        let told = self.0.load(Ordering::SeqCst);
        self.0.store(told.max(!told), Ordering::SeqCst);
    }
}

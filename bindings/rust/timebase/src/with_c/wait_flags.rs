// SPDX-License-Identifier: MIT
//! How a wait is done, and what may have disturbed it.

use super::text;
use core::fmt;
use core::ops::{BitOr, BitOrAssign};
use timebase_sys as sys;

macro_rules! bits {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $bit:ident = $value:expr;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);

        impl $name {
            $($(#[$of])* pub const $bit: Self = Self($value as u32);)*

            /// Are all of these set?
            pub const fn contains(self, bits: Self) -> bool {
                self.0 & bits.0 == bits.0
            }

            /// Is none set?
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// Each bit that is set, by itself.
            pub fn iter(self) -> impl Iterator<Item = Self> {
                (0..u32::BITS).map(move |bit| Self(self.0 & 1 << bit)).filter(|bit| !bit.is_empty())
            }
        }

        impl BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl BitOrAssign for $name {
            fn bitor_assign(&mut self, other: Self) {
                self.0 |= other.0;
            }
        }
    };
}
pub(crate) use bits;

bits! {
    /// How a wait is done; the default is an exact wait without preparation.
    WaitFlags {
        /// The polling loop alone, its mean lateness compensated.
        PLAIN = sys::TIMEBASE_WAIT_PLAIN;
        /// The polling loop until the counter reads the target or more.
        NEVER_EARLY = sys::TIMEBASE_WAIT_NEVER_EARLY;
        /// Sleep until a learnt margin before the target.
        SLEEP = sys::TIMEBASE_WAIT_SLEEP;
        /// Fetch the last instructions and the event's function into the caches before.
        PREPARE = sys::TIMEBASE_WAIT_PREPARE;
        /// Prepare, and call the function once beforehand with [`rehearsing`](crate::rehearsing)
        /// true.
        REHEARSE = sys::TIMEBASE_WAIT_REHEARSE;
        /// Poll in the processor's own light sleep where it has one.
        SAVE_POWER = sys::TIMEBASE_WAIT_SAVE_POWER;
        /// While the core is shared, the shorter tail rather than the smaller error in most waits.
        STEADY = sys::TIMEBASE_WAIT_STEADY;
    }
}

bits! {
    /// Why a wait may have missed.
    Disturbances {
        /// The kernel ran on this CPU during the last approach.
        INTERRUPT = sys::TIMEBASE_DISTURBED_INTERRUPT;
        /// Another thread did, or a signal handler.
        PREEMPTED = sys::TIMEBASE_DISTURBED_PREEMPTED;
        /// The wait ended on another CPU than it began.
        MIGRATED = sys::TIMEBASE_DISTURBED_MIGRATED;
        /// Polling stood still without any of these: hypervisor, SMI.
        GAP = sys::TIMEBASE_DISTURBED_GAP;
        /// A real-time thread stood still as long as the kernel's throttling lasts.
        THROTTLED = sys::TIMEBASE_DISTURBED_THROTTLED;
        /// The final readings were not evenly spaced.
        UNEVEN = sys::TIMEBASE_DISTURBED_UNEVEN;
        /// Polling was slower than lately: another thread shares the core.
        SHARED = sys::TIMEBASE_DISTURBED_SHARED;
    }
}

impl fmt::Display for Disturbances {
    /// "interrupt, migrated".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, bit) in self.iter().enumerate() {
            // SAFETY: constant text for every number.
            let name = unsafe { text(sys::timebase_wait_disturbance_name(bit.0 as i32)) };
            write!(f, "{}{name}", if n == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// What carried a wait over its last nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mechanism {
    /// The target had passed.
    None,
    /// The polling loop, bias compensated.
    Loop,
    /// A table, and an indirect jump into a run of instructions.
    Jump,
    /// A table, and an overwritten return address: never predicted.
    Return,
    /// Short delays: the run alone, no counter.
    Run,
}

impl Mechanism {
    pub(super) fn of(number: i32) -> Self {
        match number as u32 {
            sys::TIMEBASE_MECHANISM_LOOP => Self::Loop,
            sys::TIMEBASE_MECHANISM_JUMP => Self::Jump,
            sys::TIMEBASE_MECHANISM_RETURN => Self::Return,
            sys::TIMEBASE_MECHANISM_RUN => Self::Run,
            _ => Self::None,
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: constant text for every number.
        f.pad(unsafe { text(sys::timebase_wait_mechanism_name(*self as i32)) })
    }
}

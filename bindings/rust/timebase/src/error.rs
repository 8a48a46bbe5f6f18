// SPDX-License-Identifier: MIT
//! What can go wrong: the errors of the C library, in the same words.

use core::fmt;

macro_rules! errors {
    ($($(#[$about:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// Why something could not be done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[$about])* $name,)*
        }

        impl Error {
            /// The C library's number: negative.
            pub const fn code(self) -> i32 {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The error of a number of the C library; `None` if it is none.
            pub const fn from_code(code: i32) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// One sentence, without a full stop.
            pub const fn message(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

errors! {
    /// An argument is out of its documented range.
    Invalid = -1, "an argument is null or out of its range";
    /// This processor, kernel or build cannot do it.
    Unsupported = -2, "this processor, kernel or build cannot do it";
    /// The kernel or a sandbox refuses it.
    Permission = -3, "the kernel or a sandbox refuses it";
    /// Another thread is doing it now; nothing was changed.
    Busy = -4, "another thread is doing it now, nothing was changed";
    /// Nothing in it is of now: it has not begun, is over, or of another boot or machine.
    Stale = -5, "nothing in it is of now: it has not begun, is over, or of another boot or machine";
    /// The counter stopped, jumped or went backwards.
    Disrupted = -6, "the counter stopped, jumped or went backwards";
    /// Bounded retries found no consistent copy.
    Torn = -7, "no consistent copy found within the bounded retries";
    /// Not a timebase page, or not one of this layout version.
    Format = -8, "not a timebase page of this layout version";
    /// The reference clock could not be read.
    Reference = -9, "the reference clock could not be read";
    /// The deadline passed first.
    Timeout = -10, "the deadline passed first";
    /// There is no such file or folder.
    NotFound = -11, "there is no such file or folder, does its writer run?";
    /// Others than root and this user could have written it.
    Untrusted = -12, "a link, no regular file, or others than root and this user may change it";
    /// No memory, no space on the disk, or the disk failed.
    Resource = -13, "no memory or disk space is left, or the disk failed";
    /// Of timelines: before the first line that is kept.
    TooEarly = -14, "it lies before the first line that is kept";
    /// Of timelines: after the last line could have been replaced.
    TooLate = -15, "it lies after the last line that is known";
    /// Of timelines: between two lines, where none is known.
    Gap = -16, "it lies in a gap of the timeline";
    /// Of timelines: it has more than one meaning.
    Ambiguous = -17, "it has more than one meaning here, say of which boot it is";
    /// Of timelines: nothing is known of that boot, or of any.
    NoBoot = -18, "the timeline knows nothing of this boot, or of any";
    /// Nobody vouches for this bound: an estimate is no promise.
    Estimate = -19, "the bound is an estimate, nobody promises it";
}

impl Error {
    /// A result of the C library: 0 or more is good.
    #[cfg_attr(not(feature = "sys"), allow(dead_code))]
    pub(crate) fn check(result: i32) -> Result<i32, Self> {
        match result {
            0.. => Ok(result),
            // No function returns another number; if one did, it is not this program's fault.
            _ => Err(Self::from_code(result).unwrap_or(Self::Unsupported)),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for Error {}

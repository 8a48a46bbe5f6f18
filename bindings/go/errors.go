// SPDX-License-Identifier: MIT

package timebase

import "timebase.example/timebase/internal/fault"

// Error is what functions of this package return, as a pointer (for [errors.As]):
//
//	Kind  error   which of the errors below it is, for [errors.Is]
//	Path  string  the file or folder that it is about; may be empty
//	Why   string  in words, with what to do; may be empty
//	Cause error   of the kernel, or of a context; may be nil
//
// ErrNotFound is also fs.ErrNotExist, and ErrPermission fs.ErrPermission.
type Error = fault.Error

// The kinds of failure: those of the C library, include/timebase/error.h.
var (
	ErrInvalid     error = fault.Invalid     // an argument is out of its range
	ErrUnsupported error = fault.Unsupported // another counter, or a feature that is not known here
	ErrPermission  error = fault.Permission  // the kernel or a sandbox refuses it
	ErrStale       error = fault.Stale       // no lines yet, or those of another boot or machine
	ErrDisrupted   error = fault.Disrupted   // the lines have parted from the kernel's clocks
	ErrTorn        error = fault.Torn        // no consistent copy in so many attempts
	ErrFormat      error = fault.Format      // not a page of this version
	ErrReference   error = fault.Reference   // the kernel's clocks cannot be read
	ErrTimeout     error = fault.Timeout     // the deadline passed first
	ErrNotFound    error = fault.NotFound    // there is no such page
	ErrUntrusted   error = fault.Untrusted   // others could have written it
	ErrEstimate    error = fault.Estimate    // nobody promises this bound
	ErrResource    error = fault.Resource    // no memory, or the disk failed
	ErrBusy        error = fault.Busy        // another thread is doing it now
	ErrTooEarly    error = fault.TooEarly    // of timelines: before the first line that is kept
	ErrTooLate     error = fault.TooLate     // after the last line that is known
	ErrGap         error = fault.Gap         // between two lines, where none is known
	ErrAmbiguous   error = fault.Ambiguous   // more than one meaning: say which boot
	ErrNoBoot      error = fault.NoBoot      // nothing is known of that boot
)

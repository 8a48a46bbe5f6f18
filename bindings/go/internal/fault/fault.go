// SPDX-License-Identifier: MIT

// Package fault has the kinds of failure of include/timebase/error.h, as values for errors.Is.
package fault

import (
	"errors"
	"fmt"
	"io/fs"
)

// Kind is one of the failures. Its text is the C library's.
type Kind string

func (k Kind) Error() string { return "timebase: " + string(k) }

// The kinds.
const (
	Invalid     Kind = "an argument is null or out of its range"
	Unsupported Kind = "this processor, kernel or build cannot do it"
	Permission  Kind = "the kernel or a sandbox refuses it"
	Busy        Kind = "another thread is doing it now, nothing was changed"
	Stale       Kind = "nothing in it is of now: it has not begun, is over, or of another boot or machine"
	Disrupted   Kind = "the counter stopped, jumped or went backwards"
	Torn        Kind = "no consistent copy found within the bounded retries"
	Format      Kind = "not a timebase page of this layout version"
	Reference   Kind = "the reference clock could not be read"
	Timeout     Kind = "the deadline passed first"
	NotFound    Kind = "there is no such file or folder, does its writer run?"
	Untrusted   Kind = "a link, no regular file, or others than root and this user may change it"
	Resource    Kind = "no memory or disk space is left, or the disk failed"
	Estimate    Kind = "the bound is an estimate, nobody promises it"
	TooEarly    Kind = "it lies before the first line that is kept"
	TooLate     Kind = "it lies after the last line that is known"
	Gap         Kind = "it lies in a gap of the timeline"
	Ambiguous   Kind = "it has more than one meaning here, say of which boot it is"
	NoBoot      Kind = "the timeline knows nothing of this boot, or of any"
)

// Is lets errors.Is(err, fs.ErrNotExist) and fs.ErrPermission hold as well.
func (k Kind) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return k == NotFound
	case fs.ErrPermission:
		return k == Permission
	}
	return false
}

// Error is a failure, of what kind, where, and why.
type Error struct {
	Kind  Kind
	Path  string // the file or folder; may be empty
	Why   string // in words, with what to do; may be empty
	Cause error  // of the kernel, or of a context; may be nil
}

func (e *Error) Error() string {
	text := "timebase: "
	if e.Path != "" {
		text += e.Path + ": "
	}
	if e.Why == "" {
		return text + string(e.Kind)
	}
	return text + e.Why
}

// Is lets errors.Is find the kind.
func (e *Error) Is(target error) bool { return target == e.Kind || e.Kind.Is(target) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Because makes an error of this kind with a reason.
func (k Kind) Because(format string, args ...any) error {
	return &Error{Kind: k, Why: fmt.Sprintf(format, args...)}
}

// Of is an error's kind; an error of others is the kernel's.
func Of(err error) Kind {
	var of *Error
	if errors.As(err, &of) {
		return of.Kind
	}
	if kind, ok := err.(Kind); ok {
		return kind
	}
	return Permission
}

// In names the file of an error that has none.
func In(path string, err error) error {
	var of *Error
	if errors.As(err, &of) && of.Path == "" {
		return &Error{Kind: of.Kind, Path: path, Why: of.Why, Cause: of.Cause}
	}
	if kind, ok := err.(Kind); ok {
		return &Error{Kind: kind, Path: path}
	}
	return err
}

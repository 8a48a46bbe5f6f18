// SPDX-License-Identifier: MIT

package timebase

import (
	"context"
	"time"

	"timebase.example/timebase/internal/fault"
)

// The waits of src/clock/interval: they sleep half of what is left, look at the clock no less often
// than napMax, and poll where it is not worth while to sleep.
const (
	pollMax = 50 * time.Microsecond
	napMax  = 16 * time.Millisecond
)

// WaitBound waits until the clock's bound of true UTC is at most maxError, and a promise: the status
// is SYNCHRONIZED, and the bound is not flagged Estimate. It gives the interval that was last seen.
//
//	ErrTimeout   the context ended with a wider bound (also context.DeadlineExceeded or Canceled)
//	ErrStale     it ended, and nobody promised anything
//	ErrEstimate  at once: the bound is an estimate, and waiting makes no promise of it. So it always is
//	             with any clock but that of a page
func (c *Clock) WaitBound(ctx context.Context, maxError time.Duration) (Interval, error) {
	now, err := c.waitUntil(ctx, func(now *Instant) time.Duration {
		if now.UTCMaxError <= maxError {
			return 0
		}
		return napMax // nobody knows when a better sample will come
	})
	return now.UTCInterval(), err
}

// WaitAfter waits until true UTC is certainly later than ns: until its earliest possible value is.
// Only a SYNCHRONIZED clock whose bound is no Estimate can say so. Errors as above.
func (c *Clock) WaitAfter(ctx context.Context, ns int64) error {
	_, err := c.waitUntil(ctx, func(now *Instant) time.Duration {
		earliest := now.UTCInterval().Earliest
		if earliest > ns {
			return 0
		}
		if left := duration(uint64(ns) - uint64(earliest)); left > 0 {
			return left
		}
		return 1
	})
	return err
}

func (c *Clock) waitUntil(ctx context.Context, left func(*Instant) time.Duration) (Instant, error) {
	for {
		now := c.Instant()
		if now.Flags&FlagEstimate != 0 {
			return now, fault.Estimate.Because("the bound of UTC is an estimate, which nobody promises: " +
				"attach to the page of a daemon that has a source with a bound (docs/guide/sources.md)")
		}
		isPromised := now.Status() == StatusSynchronized
		nap := napMax
		if isPromised {
			if nap = left(&now); nap == 0 {
				return now, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return now, endedBy(err, isPromised, now.Status())
		}
		rest(ctx, nap/2)
	}
}

func endedBy(err error, isPromised bool, status Status) error {
	if isPromised {
		return &Error{Kind: fault.Timeout, Cause: err, Why: "the wait was ended first: " + err.Error()}
	}
	return &Error{Kind: fault.Stale, Cause: err,
		Why: "the wait was ended, and nobody promised a bound: the clock is " + status.String()}
}

func rest(ctx context.Context, nap time.Duration) {
	if nap > napMax {
		nap = napMax
	}
	if nap < pollMax/2 {
		return
	}
	timer := time.NewTimer(nap)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

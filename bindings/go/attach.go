// SPDX-License-Identifier: MIT

package timebase

import (
	"time"

	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/mirror"
)

// Attach follows the page that another process keeps, the daemon timebased as a rule; an empty path is
// PagePath. Readings then mean the same to all processes that are attached: a tick is the same
// nanosecond in each.
//
// The file is read, never mapped, and what was read is used for no longer than 20 ms; so readings go
// on, whatever becomes of the file. It is opened without following links, and only if nobody but root
// and this user can have put it there; docs/guide/share.md has the conditions, and what each error
// wants to be done:
//
//	ErrNotFound     there is no such file: no daemon, or another path
//	ErrPermission   file or folder may not be opened
//	ErrUntrusted    the path, or who may write there
//	ErrFormat       not a page of this version, or lines that cannot be
//	ErrUnsupported  over another counter than this process reads, or with a feature not known here
//	ErrStale        no lines yet, or those of another boot, machine or namespace
//	ErrTorn         rewritten without pause
//
// A page that its writer no longer renews goes on with a bound that grows; then its status is
// FREERUNNING, and at last UNKNOWN.
func Attach(path string) (*Clock, error) {
	if path == "" {
		path = PagePath
	}
	m, err := mirror.Attach(path, pageFolder)
	if err != nil {
		return nil, err
	}
	return &Clock{page: m.Page(), kind: attached{m}}, nil
}

// AttachOrDefault is Attach, and Default's clock where that fails. The error says why.
func AttachOrDefault(path string) (*Clock, error) {
	clock, err := Attach(path)
	if err != nil {
		clock = Default()
	}
	return clock, err
}

// AttachmentState is how an attached clock stands with its page.
type AttachmentState int

// The states.
const (
	NotAttached       AttachmentState = iota
	AttachmentCurrent                 = AttachmentState(mirror.Current)
	AttachmentSilent                  = AttachmentState(mirror.Silent)  // nobody renews it: FREERUNNING
	AttachmentExpired                 = AttachmentState(mirror.Expired) // for long: UNKNOWN
)

func (s AttachmentState) String() string {
	switch s {
	case AttachmentCurrent:
		return "current"
	case AttachmentSilent:
		return "silent"
	case AttachmentExpired:
		return "expired"
	}
	return "not attached"
}

// Attachment tells how a clock stands with its page. Counts are since it was attached.
type Attachment struct {
	State        AttachmentState
	Err          error         // why the page cannot be followed just now
	Seq          uint64        // number of the publication that is followed
	Age          time.Duration // since its newest line began; 0: that is still to come
	MonoOffset   time.Duration // CLOCK_MONOTONIC here - the page's: time namespaces, else 0
	Renewals     uint64        // looks at the page
	Publications uint64        // of them, that found another one
	Openings     uint64        // the file was another one: opened again
	Refusals     uint64        // looks that found no page, or none to be trusted
	Joins        uint64        // lines that lay below what had been shown
	UTCSteps     uint64        // the page's own count of steps of UTC
	Late         uint64        // of publications that came late
	Disruptions  uint64        // of counters that jumped, stopped or went back: a mark, not a number
}

// Attachment looks at the page, and says how things stand.
func (c *Clock) Attachment() Attachment { return c.slow().attachment() }

type attached struct{ *mirror.Mirror }

func (attached) source() Source { return SourcePage }

func (a attached) now() line.Instant { return a.Read() }

func (a attached) at(ticks uint64) line.Instant {
	lines := a.Lines()
	return lines.At(ticks)
}

func (a attached) firstTick(ns int64, isUTC bool) (uint64, error) {
	lines := a.Lines()
	return lines.FirstTick(ns, isUTC), nil
}

func (a attached) maintain() error { return a.Maintain() }

func (a attached) attachment() Attachment {
	m := a.Mirror.Attachment()
	return Attachment{
		State: AttachmentState(m.State), Err: m.Err, Seq: m.Seq, Age: duration(m.AgeNS),
		MonoOffset: time.Duration(m.MonoOffsetNS), Renewals: m.Renewals, Publications: m.Publications,
		Openings: m.Openings, Refusals: m.Refusals, Joins: m.Joins, UTCSteps: m.UTCSteps, Late: m.Late,
		Disruptions: m.Disruptions,
	}
}

func (a attached) close() { a.Mirror.Close() }

// SPDX-License-Identifier: MIT

//go:build linux

package mirror

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// reader is what an attached clock has, between two steps of a history.
type reader struct {
	writers line.Lines
	refresh uint64
	held    line.Lines // by what is known of now
	shown   line.View
}

func lineOf(n []uint64) line.Line {
	return line.Line{Start: n[0], Mono: n[1], UTC: n[2], Period: uint32(n[3]), Frac: n[4], Flags: uint32(n[5]),
		MaxError: n[6], DriftRate: uint32(n[7]), SlewRate: uint32(n[8]), UTCMaxError: n[9]}
}

func (r *reader) publish(name string, n []uint64) {
	switch name {
	case "page":
		r.refresh = n[0]
		r.writers.Validity = line.Validity{Silent: n[1], Void: n[2], EstError: [3]uint64{n[3], n[4], n[5]},
			EstRate: uint32(n[6])}
	case "before":
		r.writers.Before = lineOf(n)
	case "slew":
		r.writers.Slew = lineOf(n)
	case "after":
		r.writers.After = lineOf(n)
	}
}

func (r *reader) look(now uint64) string {
	r.held = r.writers
	state := map[State]string{Current: "current", Silent: "silent", Expired: "expired"}[silence(&r.held, now)]
	trust := "trusted"
	if r.held.IsDoubtful(r.refresh, now) {
		trust = "doubtful"
	}
	return fmt.Sprint(state, " ", trust, " ", r.held.Before.Flags, r.held.Slew.Flags, r.held.After.Flags)
}

func (r *reader) clocks(n []uint64) string {
	m := moment{before: n[0], after: n[1], mono: int64(n[2]), utc: int64(n[3]), err: n[4]}
	counterStep = func() uint64 { return n[6] }
	verdict := m.judge(&r.held, int64(n[5]))
	if verdict != agree {
		r.held = m.lines(&r.held, int64(n[5]))
	}
	return [...]string{agree: "agree", distrusted: "distrusted", parted: "parted"}[verdict]
}

func (r *reader) view(what string) string {
	v := &r.shown.Lines.Validity
	return fmt.Sprint(what, " ", r.shown.Lines.After.Start, r.shown.Refresh, v.Silent, v.Void)
}

func (r *reader) above(now, start uint64, floor int64) string {
	old, _ := r.shown.Lines.For(start - 1)
	of := *old
	view, isBridge := r.held.ViewAbove(&of, start, floor, now, page.LeaseNS)
	r.shown = view
	return r.view(map[bool]string{true: "bridge", false: "line"}[isBridge])
}

// take gives what is said of a step; nothing of a publication.
func (r *reader) take(name string, n []uint64) string {
	switch name {
	case "look":
		return r.look(n[0])
	case "clocks":
		return r.clocks(n)
	case "show":
		r.shown = r.held.ViewAt(n[0], page.LeaseNS)
		return r.view("line")
	case "above":
		return r.above(n[0], n[1], int64(n[2]))
	case "at":
		now := r.shown.Lines.At(n[0])
		return fmt.Sprint(now.Mono, now.UTC, now.MaxError, now.UTCMaxError, now.EstError, now.Flags)
	}
	r.publish(name, n)
	return ""
}

func numbers(t *testing.T, words []string) (n []uint64) {
	for _, word := range words {
		value, err := strconv.ParseUint(word, 10, 64)
		if strings.HasPrefix(word, "-") {
			var negative int64
			negative, err = strconv.ParseInt(word, 10, 64)
			value = uint64(negative)
		}
		if err != nil {
			t.Fatal(err)
		}
		n = append(n, value)
	}
	return n
}

// The same histories as C's and Rust's.
func TestWhatIsShownIsWhatCShows(t *testing.T) {
	text, err := os.ReadFile("../../../conformance/shown")
	if err != nil {
		t.Fatal(err)
	}
	was := counterStep
	defer func() { counterStep = was }()
	var r reader
	steps := 0
	for _, row := range strings.Split(string(text), "\n") {
		event, want, _ := strings.Cut(row, " -> ")
		words := strings.Fields(event)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		said := r.take(words[0], numbers(t, words[1:]))
		if said != want {
			t.Errorf("%s: %s", said, row)
		}
		if said != "" {
			steps++
		}
	}
	if steps < 100 {
		t.Errorf("%d steps", steps)
	}
}

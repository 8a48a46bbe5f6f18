// SPDX-License-Identifier: MIT

package mirror

import (
	"sync/atomic"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// What an attached clock shows of the lines it has copied: never less than it has shown. All of this
// file is for the goroutine that has the lock.

// floor: new lines begin no lower.
type floor struct {
	start uint64    // the tick from which on they are shown
	mono  int64     // ns there, or more
	line  line.Line // up to there
}

// show lines that were copied no earlier than at the tick now, and want renewal refresh ticks after
// the start of `after`. Returns fault.Busy if they have to wait until what is shown has come to its
// end; fault.Disrupted if nobody has renewed them and they have parted from the kernel's clocks, which
// are shown instead, now or from that end on.
func (m *Mirror) show(lines line.Lines, refresh, now uint64) error {
	due := lines.Due(refresh)
	m.attachment.State = silence(&lines, now)
	var parted error
	if lines.IsDoubtful(refresh, now) {
		now, parted = m.holdAgainstClocks(&lines, now)
	}
	old, _, ok := m.shown.Lines()
	if !ok {
		view := lines.ViewAt(now, page.LeaseNS)
		m.publish(&lines, &view, due)
		return parted
	}
	shown := line.View{Lines: old, Refresh: m.shown.Refresh()}
	err := m.replace(&lines, &shown, now, due)
	if parted != nil { // that has to be told also if what is shown stays
		return parted
	}
	return err
}

// silence gives the lines the status that they have by their own expiry.
func silence(lines *line.Lines, now uint64) State {
	d := now - lines.After.Start
	for _, of := range []*line.Line{&lines.Before, &lines.Slew, &lines.After} {
		of.Flags = lines.FlagsAt(now, of.Flags)
	}
	switch {
	case int64(d) < 0 || d < lines.Validity.Silent:
		return Current
	case d < lines.Validity.Void:
		return Silent
	}
	return Expired
}

// holdAgainstClocks: if the lines have parted from the kernel's clocks, or the kernel distrusts the counter,
// puts a line of the reader's own on these clocks.
func (m *Mirror) holdAgainstClocks(lines *line.Lines, now uint64) (uint64, error) {
	clocks, ok := lookAtClocks()
	offset := m.attachment.MonoOffsetNS
	if !ok {
		return now, nil
	}
	verdict := clocks.judge(lines, offset)
	if verdict == agree {
		return now, nil
	}
	*lines = clocks.lines(lines, offset)
	if verdict == distrusted {
		return clocks.before, nil
	}
	err := fault.In(m.path, fault.Disrupted.Because("nobody renews its lines, and they have "+
		"parted from the kernel's clocks: the machine slept, the counter went back, or the system clock was "+
		"set; restart its writer"))
	if m.attachment.Err == nil { // the page is there, and its lines are not shown: a refusal, too
		m.attachment.Refusals++
		m.attachment.Err = err
	}
	return clocks.before, err
}

// replace stops the followers first, and asks then whether what is shown has ended. A counter that
// went back beyond it will not come to its end; nobody was told more than is shown there.
func (m *Mirror) replace(lines *line.Lines, shown *line.View, now, due uint64) error {
	old, _, _ := m.whole.Lines()
	end := shown.End()
	floor := m.stopFollowers(&old, end, now)
	hasGoneBack := !shown.Lines.Before.HasBegun(now)
	if hasGoneBack {
		floor.start = now
	}
	if hasGoneBack || hasPassed(end+1, counter.Ordered()) {
		m.publishAbove(lines, &floor, now, due)
		return nil
	}
	return m.publishWithin(lines, &old, end, now, due)
}

// stopFollowers: after this the old lines tell nobody a later time than that of the floor.
func (m *Mirror) stopFollowers(old *line.Lines, end, now uint64) floor {
	last, followed := m.follow.close(end)
	of, _ := old.For(last)
	f := floor{start: later(end+1, now), mono: monoAt(old, last), line: *of}
	if followed {
		f.start = last
	}
	return f
}

// publishAbove: what is shown has come to its end, and nobody was told a later time than the floor.
func (m *Mirror) publishAbove(lines *line.Lines, f *floor, now, due uint64) {
	view, isBridge := lines.ViewAbove(&f.line, f.start, f.mono, now, page.LeaseNS)
	published := *lines
	if isBridge {
		published = view.Lines
		m.attachment.Joins++
	}
	m.publish(&published, &view, due)
}

// publishWithin: readers follow what is shown to its end, so what takes its place sooner must not lie
// below it.
func (m *Mirror) publishWithin(lines, old *line.Lines, end, now, due uint64) error {
	if monoAt(lines, now) < monoAt(old, now) || monoAt(lines, end) < monoAt(old, end) {
		m.follow.open() // the old lines stay, with what is noted of them
		return fault.Busy
	}
	view := lines.ViewAt(now, page.LeaseNS)
	m.publish(lines, &view, due)
	return nil
}

// publish: due is when the writer's lines want renewal; followers judge by it. They are let go between
// the two: before the new lines are there nobody may follow the old ones, and once the shown line is
// there readers are told later times than where the followers stand. This goroutine may lose its CPU for
// longer than a lease at each step. From then on their notes are of the new lines.
func (m *Mirror) publish(lines *line.Lines, view *line.View, due uint64) {
	refresh := uint64(0)
	if start := lines.After.Start; hasPassed(start, due) {
		refresh = due - start
	}
	m.follow.forget()
	m.whole.Publish(lines, refresh)
	m.follow.open()
	m.shown.Publish(&view.Lines, view.Refresh)
}

// ---- how far the old lines may be followed

// follow is agreed on by two words. A follower notes that it follows, reads the counter, and looks
// whether `stop` is still what it was. Who publishes closes `stop` first and reads the counter then:
// whoever got past the last look before has an earlier tick, and has left its note.
type follow struct {
	stop  atomic.Uint64 // openFollow, closingFollow, or the last tick that may be followed
	noted atomic.Bool   // somebody has followed the present lines
}

const (
	openFollow = iota
	closingFollow
	firstStop // a tick that looks like one of these is moved up to it
)

// close stops all followers. They are told the time of the tick `last` at the most: the end of the
// lease if nobody has followed beyond it.
func (f *follow) close(end uint64) (last uint64, followed bool) {
	f.stop.Store(closingFollow)
	last = end
	now := counter.Ordered()
	if followed = f.noted.Load(); followed {
		last = later(end+1, now)
	}
	if last < firstStop {
		last = firstStop
	}
	f.stop.Store(last)
	return last, followed
}

// forget the notes, which were of the old lines. Whoever notes later and has the old lines is told no
// more than close() said, and finds the new number at its last look.
func (f *follow) forget() { f.noted.Store(false) }

func (f *follow) open() { f.stop.Store(openFollow) }

// SPDX-License-Identifier: MIT

package mirror

import (
	"runtime"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
)

const (
	awaitRounds    = 50   // a renewal without a new page takes about a microsecond
	followAttempts = 1000 // each is spoilt by a publication, or by a writer between two instructions
)

// awaitRenewal gives the goroutine that has the lock a moment.
func (m *Mirror) awaitRenewal() (now line.Instant, ok bool) {
	for i := 0; i < awaitRounds; i++ {
		if m.shown.Instant(&now) {
			return now, true
		}
		runtime.Gosched()
	}
	return now, false
}

// followLines is now without the lock, by the lines that were copied last, beyond their lease. One of
// three holds: the goroutine that renews them sees this one's note, and begins above what this gives;
// or there are new lines; or this gives no more than the time at the end of the lease.
func (m *Mirror) followLines() line.Instant {
	var current line.Instant
	for i := 0; i < followAttempts; i++ {
		if m.shown.Instant(&current) {
			return current
		}
		shown := m.shown.Seq()
		lines, whole, ok := m.whole.Lines()
		if !ok {
			break
		}
		if m.hasParted(&lines) {
			m.Maintain() // rare: waits for the lock, and shows the kernel's clocks
			continue
		}
		m.follow.noted.Store(true)
		now := counter.Ordered()
		stop := m.follow.stop.Load()
		if stop == closingFollow {
			runtime.Gosched()
			continue
		}
		out := readTo(&lines, stop, now)
		if m.shown.Seq() == shown && m.whole.Seq() == whole && m.follow.stop.Load() == stop {
			return out
		}
	}
	return m.standStill()
}

// readTo: past the limit time stands still, and the bound says for how long it has.
func readTo(lines *line.Lines, limit, now uint64) line.Instant {
	if limit == openFollow || int64(now-limit) <= 0 {
		return lines.At(now)
	}
	out := lines.At(limit)
	still := lines.ElapsedNS(now-limit) + 1
	out.Ticks = now
	out.MaxError += still
	out.UTCMaxError += still
	out.EstError += still
	return out
}

// hasParted: lines that say nothing of now by themselves are further from the kernel's clocks than
// their bound explains.
func (m *Mirror) hasParted(lines *line.Lines) bool {
	if !lines.LeaveOut(m.whole.Refresh(), counter.Ordered()) {
		return false
	}
	clocks, ok := lookAtClocks()
	return ok && clocks.hasParted(lines, m.monoOffset.Load())
}

// standStill waits for the lock after all (never seen): then nobody else renews the lines. Nothing
// was ever copied, or 1,000 renewals fell into 1,000 attempts.
func (m *Mirror) standStill() line.Instant {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.renew()
	var current line.Instant
	if m.shown.Instant(&current) {
		return current
	}
	lines, _, ok := m.whole.Lines()
	now := counter.Ordered()
	if !ok {
		return line.Instant{Ticks: now}
	}
	m.follow.noted.Store(true)
	return lines.At(now)
}

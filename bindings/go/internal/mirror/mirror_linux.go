// SPDX-License-Identifier: MIT

package mirror

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// Mirror is a clock that follows another process' page.
type Mirror struct {
	hot        *page.Page // what is read without a question: shown, or empty where shown is not over
	shown      *page.Page // the processor's counter
	whole      *page.Page // its refresh: when the writer's lines want renewal
	follow     follow
	monoOffset atomic.Int64 // CLOCK_MONOTONIC here - the page's, for followers

	mu         sync.Mutex
	path       string
	service    string // the folder whose owner counts as root
	file       sharedFile
	isClosed   bool
	lines      line.Lines // as copied last
	refresh    uint64     // of these
	seq        uint64     // their number in the file; 0: no lines yet
	changed    uint64     // the tick at which another number was last seen
	lookUp     uint64     // the tick from which on the path may be looked up again
	moved      moved
	attachment Attachment
}

// Attach follows the page at path. The owner of the folder service counts as root.
func Attach(path, service string) (*Mirror, error) {
	if path == "" {
		return nil, fault.Invalid.Because("the path is empty")
	}
	absolute := path
	if !filepath.IsAbs(path) { // it is looked up again later, perhaps from another folder
		folder, err := os.Getwd()
		if err != nil {
			return nil, fault.In(path, fault.NotFound.Because("the working directory is gone: %v", err))
		}
		absolute = folder + "/" + path
	}
	m := &Mirror{path: absolute, service: service, file: sharedFile{fd: -1}}
	m.shown, m.whole = page.Begin(counter.Here()), page.Begin(counter.Here())
	m.hot = m.shown
	if !counter.IsReadable() {
		m.hot = new(page.Page)
	}
	m.moved.open(witnessDevice)
	m.lookUp = counter.Ordered()
	if err := m.Maintain(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Page is what page.Read is for; all other readings are Read's.
func (m *Mirror) Page() *page.Page { return m.hot }

// Maintain looks at the page, and renews what is shown.
func (m *Mirror) Maintain() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.renew()
}

// Close gives the descriptor back. The lines that were copied last go on until they expire.
func (m *Mirror) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isClosed {
		return
	}
	m.isClosed = true
	m.file.close()
	m.moved.close()
}

// Attachment looks at the page, and says how things stand.
func (m *Mirror) Attachment() Attachment {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.renew()
	out := m.attachment
	out.Seq = m.seq
	out.AgeNS = m.lines.ElapsedNS(counter.Ordered() - m.lines.Slew.Start)
	return out
}

// Lines are for ticks of other moments. Those copied within the last lease are right for every tick up
// to now; older ones are renewed first.
func (m *Mirror) Lines() line.Lines {
	m.Read()
	lines, _, _ := m.whole.Lines()
	return lines
}

// Read is now, however the page stands.
func (m *Mirror) Read() line.Instant {
	var now line.Instant
	// A reader that is held up for a lease after each renewal gives up, and follows the whole lines.
	for i := 0; i < 2; i++ {
		if m.shown.Instant(&now) {
			return now
		}
		if m.mu.TryLock() {
			m.renew()
			m.mu.Unlock()
		} else if now, ok := m.awaitRenewal(); ok {
			return now
		}
	}
	return m.followLines()
}

// Followers, who have no lock, read it as a word.
func (m *Mirror) setMonoOffset(ns int64) {
	m.attachment.MonoOffsetNS = ns
	m.monoOffset.Store(ns)
}

// SPDX-License-Identifier: MIT

package mirror

import (
	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

const (
	quietNS  = 500_000_000 // a number that has not changed for so long: has the file been replaced?
	lookUpNS = 100_000_000 // how often the path is looked up then
)

// All of this file is for the goroutine that has the lock.

// renew looks at the file and shows what it finds. The lease runs from before the look: lines that
// are published later begin no sooner than a lease after it. If there is nothing to copy, the present
// lines go on.
func (m *Mirror) renew() error {
	now := counter.Ordered()
	m.moved.look()
	another, err := m.look(now)
	m.attachment.Renewals++
	if err != nil {
		m.attachment.Refusals++
	}
	m.attachment.Err = err
	if another == nil && err == nil {
		m.moved.noteSame()
	}
	switch {
	case another != nil:
		err = m.showCopied(another, now)
	case m.seq != 0:
		if parted := m.showKept(now); err == nil {
			err = parted
		}
	}
	return err
}

// look gives another page than the present one, or nil. One system call for the number, one to see
// whether the file is still ours, while nothing has changed.
func (m *Mirror) look(now uint64) (*page.Page, error) {
	if m.isClosed {
		return nil, fault.In(m.path, fault.Invalid.Because("the clock was closed"))
	}
	if m.seq == 0 {
		return m.lookUpPath()
	}
	seq, err := m.file.seq()
	if err == nil && seq == m.seq {
		if hasPassed(m.changed+m.lines.Ticks(quietNS), now) {
			return m.lookUpAgain(now)
		}
		return nil, nil
	}
	var another *page.Page
	if err == nil {
		another, err = m.copyAnother(seq)
	}
	if err != nil {
		if found, _ := m.lookUpAgain(now); found != nil {
			return found, nil
		}
	}
	return another, err
}

// copyAnother: a number that fell is another writer's, and its lines are compared with the clocks.
func (m *Mirror) copyAnother(seq uint64) (*page.Page, error) {
	another, err := m.file.copy()
	if err != nil {
		return nil, err
	}
	offset := m.attachment.MonoOffsetNS
	if seq > m.seq {
		_, err = plausibleLines(another)
	} else {
		offset, err = plausiblePage(another)
	}
	if err != nil {
		return nil, fault.In(m.path, err)
	}
	m.setMonoOffset(offset)
	return another, nil
}

// lookUpAgain is lookUpPath, no more often than every lookUpNS.
func (m *Mirror) lookUpAgain(now uint64) (*page.Page, error) {
	if !hasPassed(m.lookUp, now) {
		return nil, m.attachment.Err
	}
	m.lookUp = now + m.lines.Ticks(lookUpNS)
	return m.lookUpPath()
}

// lookUpPath: is another file there than the one we have, and a page?
func (m *Mirror) lookUpPath() (*page.Page, error) {
	file, err := openShared(m.path, m.service)
	if err != nil {
		return nil, err
	}
	if m.seq != 0 && file.isSame(&m.file) && m.file.isOpen() {
		file.close()
		return nil, nil
	}
	var offset int64
	another, err := file.copy()
	if err == nil {
		offset, err = plausiblePage(another)
	}
	if err != nil {
		file.close()
		return nil, fault.In(m.path, err)
	}
	m.file.close()
	m.file = file
	m.attachment.Openings++
	m.setMonoOffset(offset)
	return another, nil
}

// promised: the lines go on being shown after a move. Readers get no step, and no promise either.
func (m *Mirror) promised(lines line.Lines) line.Lines {
	for _, of := range []*line.Line{&lines.Before, &lines.Slew, &lines.After} {
		of.Flags = of.Flags&^line.StatusMask | m.moved.status(of.Flags&line.StatusMask)
	}
	return lines
}

func (m *Mirror) showCopied(p *page.Page, now uint64) error {
	counts := p.Counts()
	m.moved.notePage(counts.Disruption, p.VMClock())
	lines, seq, _ := p.Lines()
	err := m.show(m.promised(lines), p.Refresh(), now)
	if err != nil && fault.Of(err) == fault.Busy {
		m.seq = ^seq // to be copied again
		return err
	}
	m.lines, m.refresh, m.seq, m.changed = lines, p.Refresh(), seq, now
	m.attachment.Publications++
	m.attachment.UTCSteps, m.attachment.Late = counts.UTCSteps, counts.Late
	m.attachment.Disruptions = counts.Disruption
	return err
}

func (m *Mirror) showKept(now uint64) error {
	return m.show(m.promised(m.lines), m.refresh, now)
}

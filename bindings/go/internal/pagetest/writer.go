// SPDX-License-Identifier: MIT

//go:build linux

// Package pagetest is a small writer of pages for tests and examples: lines on the kernel's clocks,
// good to some microseconds, in the order that the specification wants. The real writer is timebased.
package pagetest

import (
	"os"
	"path/filepath"
	"sync"
	"time"
	"unsafe"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

const (
	leadNS    = 30_000_000 // longer than the readers' lease
	refreshNS = 200_000_000
	silentNS  = 5_000_000_000
	voidNS    = 1_000_000_000_000
	errorNS   = 200_000
)

// Writer keeps a page in a file of its own folder.
type Writer struct {
	Path  string
	Flags uint32 // of the next lines

	mu    sync.Mutex
	page  *page.Page
	file  *os.File
	last  line.Lines
	late  int
	ended chan struct{}
	done  sync.WaitGroup
}

// New makes folder/page and publishes the first lines.
func New(folder string) (*Writer, error) {
	if err := os.Chmod(folder, 0o755); err != nil {
		return nil, err
	}
	w := &Writer{Path: filepath.Join(folder, "page"), page: page.Begin(counter.Here()),
		Flags: 37<<16 | line.TAIValid | line.Synchronized, ended: make(chan struct{})}
	file, err := os.OpenFile(w.Path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	w.file = file
	if err := file.Truncate(page.Size); err != nil {
		return nil, err
	}
	first := firstLine()
	w.last = line.Lines{Before: first, Slew: first, After: first}
	return w, w.Store(w.finish(w.last))
}

// Folder is a fresh one for a page, and what removes it.
func Folder() (string, func(), error) {
	folder, err := os.MkdirTemp("", "timebase-go-")
	return folder, func() { os.RemoveAll(folder) }, err
}

// Keep publishes ten times a second until Close.
func (w *Writer) Keep() *Writer {
	w.done.Add(1)
	go func() {
		defer w.done.Done()
		for {
			select {
			case <-w.ended:
				return
			case <-time.After(100 * time.Millisecond):
				_ = w.Publish() // a closed file ends the loop as well
			}
		}
	}()
	return w
}

// Close ends Keep; the file stays.
func (w *Writer) Close() {
	close(w.ended)
	w.done.Wait()
	w.file.Close()
}

// Lines are those of the last publication.
func (w *Writer) Lines() line.Lines {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Publish leads the present line on and towards the kernel's clocks.
func (w *Writer) Publish() error {
	old, next := w.Lines(), w.Next()
	err := w.Store(next)
	w.countIfLate(&old, &next, counter.Ordered())
	return err
}

// countIfLate looks whether some reader may still tell another time than the new lines, at the tick
// written or later: it follows an older line that began meanwhile, or its lease outlasts `before`.
func (w *Writer) countIfLate(old, next *line.Lines, written uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	present, _ := old.For(written)
	left := int64(next.Slew.Start - written)
	if present.Start != next.Before.Start || left < int64(next.Ticks(page.LeaseNS)) {
		w.late++
	}
}

// Late are the publications of Publish that came too late for some reader.
func (w *Writer) Late() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.late
}

// Next are the lines that Publish would store.
func (w *Writer) Next() line.Lines {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := look()
	var next line.Lines
	of, _ := w.last.For(now.ticks)
	next.Before = *of
	start := now.ticks + w.last.Ticks(leadNS)
	next.Slew = w.from(next.Before, start)
	// 500 ppm of the lead is removed at the most, in a lead.
	ahead := w.last.At(now.ticks).Mono - now.mono
	next.Slew.Frac, next.Slew.Period = w.bent(ahead)
	next.After = w.from(next.Slew, start+w.last.Ticks(leadNS))
	next.After.Frac, next.After.Period = pace.Frac, pace.Period
	return w.finish(next)
}

func (w *Writer) from(l line.Line, start uint64) line.Line {
	at := l.At(start - l.Start)
	l.Start, l.Mono, l.UTC, l.Flags = start, uint64(at.Mono), uint64(at.UTC), w.Flags
	return l
}

// bent is the pace, slower by what brings the line back by ahead ns within a lead.
func (w *Writer) bent(ahead int64) (frac uint64, period uint32) {
	const most = leadNS / 2000
	if ahead > most {
		ahead = most
	}
	if ahead < -most {
		ahead = -most
	}
	length := float64(pace.Period) + float64(pace.Frac)/(1<<64)
	length *= 1 - float64(ahead)/leadNS
	period = uint32(length)
	return uint64((length - float64(period)) * (1 << 64)), period
}

func (w *Writer) finish(lines line.Lines) line.Lines {
	for _, l := range []*line.Line{&lines.Before, &lines.Slew, &lines.After} {
		l.Flags = w.Flags
	}
	due := lines.Ticks(refreshNS)
	lines.Validity = line.Validity{EstRate: 1}
	lines.Validity.Silent = due + 2*lines.Ticks(silentNS/2)
	lines.Validity.Void = due + voidNS/1e9*lines.Ticks(1e9)
	lines.Validity.EstError = [3]uint64{900, 800, 700}
	return lines
}

// Store publishes any lines, by the order of the specification for files.
func (w *Writer) Store(lines line.Lines) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	refresh := lines.Ticks(refreshNS)
	if refresh >= lines.Validity.Silent {
		refresh = lines.Validity.Silent - 1
	}
	w.last = lines
	w.page.Publish(&lines, refresh)
	all := w.bytes()
	seq := w.page.Seq()
	copyAt := int64(128 + 256*(seq&1))
	parts := [][2]int64{{16, 128}, {copyAt, copyAt + 256}, {8, 16}, {0, 8}}
	for _, part := range parts {
		if _, err := w.file.WriteAt(all[part[0]:part[1]], part[0]); err != nil {
			return err
		}
	}
	return nil
}

// Bytes are the page as it is in the file now.
func (w *Writer) Bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]byte(nil), w.bytes()...)
}

// The page's memory is what the file holds.
func (w *Writer) bytes() []byte { return (*[page.Size]byte)(unsafe.Pointer(w.page))[:] }

// moment is the kernel's clocks at a tick, and how many ticks the look at them took.
type moment struct {
	ticks, width uint64
	mono, utc    int64
}

// look takes the narrowest of some brackets: this goroutine may be held up within any of them.
func look() (narrowest moment) {
	for i := 0; i < 10; i++ {
		first := counter.Ordered()
		mono, _ := counter.ClockNS(counter.Monotonic)
		utc, _ := counter.ClockNS(counter.Realtime)
		width := counter.Ordered() - first
		if i == 0 || width < narrowest.width {
			narrowest = moment{first + width/2, width, mono, utc}
		}
	}
	return narrowest
}

// pace is of the counter that is read when the first page is made: C's word on it comes after this
// package's variables.
var (
	pace     line.Line
	measured sync.Once
)

// measure tells the length of a tick by the kernel's clock, to 500 ppm or better.
func measure() line.Line {
	const looks, ppm = 100, 500
	first, last := look(), moment{}
	for i := 0; i < looks; i++ {
		time.Sleep(20 * time.Millisecond)
		last = look()
		if (first.width+last.width)*1_000_000 <= (last.ticks-first.ticks)*ppm {
			break
		}
	}
	length := float64(last.mono-first.mono) / float64(last.ticks-first.ticks)
	period := uint32(length)
	return line.Line{Period: period, Frac: uint64((length - float64(period)) * (1 << 64))}
}

func firstLine() line.Line {
	measured.Do(func() { pace = measure() })
	l := pace
	now := look()
	l.Start, l.Mono, l.UTC = now.ticks, uint64(now.mono), uint64(now.utc)
	l.MaxError, l.UTCMaxError = errorNS, errorNS
	length := float64(l.Period) + float64(l.Frac)/(1<<64)
	l.DriftRate = uint32(50e-6*length*(1<<32)) + 1
	l.SlewRate = uint32(500e-6*length*(1<<32)) + 1
	return l
}

// SPDX-License-Identifier: MIT

//go:build linux

package mirror

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
	"timebase.example/timebase/internal/pagetest"
)

// age makes the mirror's leases run out: what was copied before is to be looked at again.
func age(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }

func status(now line.Instant) uint32 { return now.Flags & line.StatusMask }

// Ticks mean the same to the writer, to the mirror, and to a second mirror, if the writer is in time:
// what it publishes too late is left out, and its readers begin anew. From one publication to the next
// its three lines are all in force: who follows the last one beyond a lease misses the new slew.
func TestATickIsTheSameNanosecondToAll(t *testing.T) {
	const wanted, most, looks = 10, 1000, 10
	w := newWriter(t)
	inTime, published := 0, 0
	one, other := attach(t, w), attach(t, w)
	for ; inTime < wanted && published < most; published++ {
		late := w.Late()
		if err := w.Publish(); err != nil {
			t.Fatal(err)
		}
		if w.Late() > late {
			one.Close()
			other.Close()
			one, other = attach(t, w), attach(t, w)
			continue
		}
		inTime++
		for i := 0; i < looks; i++ {
			age(7)
			compareATick(t, w, one, other)
		}
		if a := one.Attachment(); a.Joins != 0 {
			t.Fatalf("%+v", a)
		}
	}
	t.Logf("%d of %d publications were in time", inTime, published)
	if a := one.Attachment(); inTime < wanted || a.Publications == 0 {
		t.Errorf("%+v", a)
	}
}

func compareATick(t *testing.T, w *pagetest.Writer, one, other *Mirror) {
	t.Helper()
	now := one.Read()
	lines, there := w.Lines(), other.Lines()
	if want := lines.At(now.Ticks); now.Mono != want.Mono || now.UTC != want.UTC {
		t.Fatalf("%+v, and the writer says %+v", now, want)
	}
	if want := there.At(now.Ticks); now.Mono != want.Mono {
		t.Fatalf("%d, and to another reader %d", now.Mono, want.Mono)
	}
}

// A writer that is gone, and whose lines fall silent, or expire, soon after.
func TestADeadWritersPageExpires(t *testing.T) {
	for _, c := range []struct {
		silent, void uint64 // ms; 0: never
		state        State
		status       uint32
	}{
		{30, 0, Silent, line.Freerunning},
		{30, 60, Expired, line.Unknown},
	} {
		w := newWriter(t)
		lines := w.Lines()
		ms := lines.Ticks(1_000_000)
		lines.Validity.Silent, lines.Validity.Void = c.silent*ms, line.Never
		if c.void != 0 {
			lines.Validity.Void = c.void * ms
		}
		if err := w.Store(lines); err != nil {
			t.Fatal(err)
		}
		m := attach(t, w)
		readUntil(t, m, &lines, 100*ms, 22*ms)
		if a, now := m.Attachment(), m.Read(); a.State != c.state || status(now) != c.status {
			t.Errorf("%+v, %+v", a, now)
		}
		at := m.Lines()
		if far := at.At(counter.Ordered() + 1000*ms); status(far) != c.status {
			t.Errorf("%+v", far)
		}
	}
}

// readUntil so many ticks have passed: a status is told no later than a lease after it was due, and
// the bound grows.
func readUntil(t *testing.T, m *Mirror, lines *line.Lines, ticks, lease uint64) {
	bound := uint64(0)
	for start := counter.Ordered(); counter.Ordered()-start < ticks; {
		now := m.Read()
		d := now.Ticks - lines.After.Start
		if got := status(now); got != statusAt(lines, d) && d > lease && got != statusAt(lines, d-lease) {
			t.Fatalf("status %d after %d ticks", got, d)
		}
		if now.MaxError < bound {
			t.Fatalf("the bound shrank from %d to %d", bound, now.MaxError)
		}
		bound = now.MaxError
	}
}

func statusAt(lines *line.Lines, d uint64) uint32 {
	return lines.FlagsAt(lines.After.Start+d, line.Synchronized)
}

// Whatever becomes of the file, readings go on, and it is told.
func TestWhateverBecomesOfTheFile(t *testing.T) {
	w := newWriter(t)
	m := attach(t, w)
	good := w.Bytes()
	last := m.Read()
	for _, c := range []struct {
		name  string
		spoil func() error
		kind  fault.Kind
	}{
		{"truncated", func() error { return os.Truncate(w.Path, 0) }, fault.Format},
		{"cut short", func() error { return os.Truncate(w.Path, 4) }, fault.Format},
		{"writable for others", func() error { return os.Chmod(w.Path, 0o666) }, fault.Untrusted},
		{"rubbish", func() error { return os.WriteFile(w.Path, make([]byte, 640), 0o644) }, fault.Stale},
		{"a later number, other rubbish", func() error {
			b := append([]byte(nil), good...)
			page.Native.PutUint64(b, 1<<40+1)
			return os.WriteFile(w.Path, put32(b, 384+32, 5000), 0o644)
		}, fault.Format},
	} {
		if err := c.spoil(); err != nil {
			t.Fatal(err)
		}
		age(25)
		if c.name == "writable for others" { // looked at with each new number
			if err := w.Publish(); err != nil {
				t.Fatal(err)
			}
		}
		now := m.Read()
		if now.Mono < last.Mono {
			t.Errorf("%s: %d after %d", c.name, now.Mono, last.Mono)
		}
		last = now
		if a := m.Attachment(); !errors.Is(a.Err, c.kind) {
			t.Errorf("%s: %v", c.name, a.Err)
		}
		os.Chmod(w.Path, 0o644)
		os.WriteFile(w.Path, good, 0o644)
		if err := w.Publish(); err != nil {
			t.Fatal(err)
		}
		age(130)
		m.Read()
		if a := m.Attachment(); a.Err != nil {
			t.Fatalf("after %q: %v", c.name, a.Err)
		}
	}
}

func TestAFileThatIsReplacedIsFound(t *testing.T) {
	w := newWriter(t)
	m := attach(t, w)
	os.Remove(w.Path)
	age(25)
	m.Read()
	again := newWriter(t)
	if err := os.Rename(again.Path, w.Path); err != nil {
		t.Fatal(err)
	}
	for m.Attachment().Openings < 2 {
		age(20)
	}
	if a := m.Attachment(); a.Openings != 2 || a.Err != nil {
		t.Errorf("%+v", a)
	}
}

func TestDescriptorsThatTheProgramClosesAreNotReadFrom(t *testing.T) {
	w := newWriter(t)
	m := attach(t, w)
	fd := m.file.fd
	other, err := os.Open("/dev/zero")
	if err == nil {
		defer other.Close()
		err = syscall.Dup3(int(other.Fd()), fd, syscall.O_CLOEXEC)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	age(120)
	m.Read()
	if a := m.Attachment(); a.Err != nil || a.Openings != 2 {
		t.Errorf("%+v", a)
	}
	var s syscall.Stat_t
	if err := syscall.Fstat(fd, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFCHR {
		t.Errorf("somebody else's descriptor was closed: %v", err)
	}
}

func TestAClosedMirrorGoesOnByItsLines(t *testing.T) {
	w := newWriter(t)
	m := attach(t, w)
	first := m.Read()
	m.Close()
	m.Close()
	age(25)
	if now := m.Read(); now.Mono <= first.Mono || !errors.Is(m.Attachment().Err, fault.Invalid) {
		t.Errorf("%+v", now)
	}
}

// Lines that lie 300 us, and 3 ms, below what was shown: time goes on, slower, until they catch up.
func TestTimeDoesNotGoBackWhereLinesLieLower(t *testing.T) {
	for _, below := range []uint64{300_000, 3_000_000} {
		w := newWriter(t)
		m := attach(t, w)
		lines := w.Lines()
		for _, l := range []*line.Line{&lines.Before, &lines.Slew, &lines.After} {
			l.Mono -= below
			l.UTC -= below
			l.MaxError = 100_000_000 // they are within their bound of the kernel's clocks
		}
		m.mu.Lock() // so that somebody has followed the lines beyond their lease
		age(25)
		last := m.Read()
		err := w.Store(lines)
		m.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		for caught := false; !caught; {
			now := m.Read()
			if now.Mono < last.Mono {
				t.Fatalf("%d after %d", now.Mono, last.Mono)
			}
			writers := lines.At(now.Ticks)
			// Each line is rounded down by itself.
			ahead := now.Mono - writers.Mono
			if ahead < -1 || ahead > int64(below) {
				t.Fatalf("%d ns ahead, of %d", ahead, below)
			}
			caught = ahead <= 0
			last = now
		}
		if a := m.Attachment(); a.Joins == 0 {
			t.Errorf("%d below: %+v", below, a)
		}
	}
}

// Goroutines hand each other their readings, while a writer bends its lines and the lock is fought for.
func TestGoroutinesSeeTimeGoForward(t *testing.T) {
	w := newWriter(t)
	m := attach(t, w)
	ended := make(chan struct{})
	var all sync.WaitGroup
	var newest atomic.Int64
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for n := 0; n < 20000; n++ {
				seen := newest.Load()
				now := m.Read().Mono
				if mono, _, ok := page.Read(m.Page()); ok && n%3 == 0 {
					now = mono
				}
				if now < seen {
					t.Errorf("%d after %d", now, seen)
					return
				}
				for old := newest.Load(); now > old && !newest.CompareAndSwap(old, now); old = newest.Load() {
				}
			}
		}(i)
	}
	all.Add(1)
	go func() {
		defer all.Done()
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			case <-time.After(3 * time.Millisecond):
			}
			if i%20 == 19 {
				disturb(w)
			} else if i%8 == 0 {
				w.Publish()
			}
			if i%5 == 0 {
				m.mu.Lock() // nobody renews for longer than a lease: readers follow the lines
				age(25)
				m.mu.Unlock()
			}
		}
	}()
	for i := 0; i < 40; i++ {
		m.Attachment()
		age(10)
	}
	close(ended)
	all.Wait()
}

// disturb publishes lines 20 us lower: the next reader has to bridge them.
func disturb(w *pagetest.Writer) {
	lines := w.Lines()
	for _, l := range []*line.Line{&lines.Before, &lines.Slew, &lines.After} {
		l.Mono -= 20_000
		l.UTC -= 20_000
	}
	w.Store(lines)
}

// While another has the lock for long, readers go on by the lines, and what follows begins above.
func TestReadersDoNotWaitForTheLock(t *testing.T) {
	w := newWriter(t)
	m := attach(t, w)
	m.mu.Lock()
	age(25)
	first := m.Read()
	age(5)
	second := m.Read()
	disturb(w)
	m.mu.Unlock()
	third := m.Read()
	if second.Mono-first.Mono < 4_000_000 || third.Mono < second.Mono {
		t.Errorf("%d, %d, %d", first.Mono, second.Mono, third.Mono)
	}
	if a := m.Attachment(); a.Joins == 0 {
		t.Errorf("the lines lay 20 us below what was told, and were not bridged: %+v", a)
	}
}

// Whoever renews the lines loses its CPU for a lease within the publication: the others neither stand
// still nor go back to where they stood before it.
func TestARenewerThatLosesItsCPUStopsNobody(t *testing.T) {
	w := newWriter(t)
	m := attach(t, w)
	m.mu.Lock()
	age(25)
	m.Read() // followed beyond the lease: what follows has to stop it
	lines := w.Lines()
	shown, _, _ := m.shown.Lines()
	view := line.View{Lines: shown, Refresh: m.shown.Refresh()}
	now := counter.Ordered()
	m.stopFollowers(&lines, view.End(), now)
	next := lines.ViewAt(now, page.LeaseNS)
	m.publish(&lines, &next, lines.Due(1<<40))
	first := m.Read()
	age(25)
	second := m.Read()
	m.mu.Unlock()
	if second.Mono-first.Mono < 24_000_000 {
		t.Errorf("%d, and 25 ms later %d", first.Mono, second.Mono)
	}
}

// SPDX-License-Identifier: MIT

//go:build linux

package stand

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// program is the command of one of the stand's C programs, by an emulator if need be.
func program(t *testing.T, variable string, arguments ...string) *exec.Cmd {
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s does not say where the program is: run bindings/go/check", variable)
	}
	command := append(strings.Fields(os.Getenv("TIMEBASE_STAND_RUN")), path)
	command = append(command, arguments...)
	return exec.Command(command[0], command[1:]...)
}

// live is a page and its writer, which ends by itself after 300 s.
type live struct {
	page  *page.Page
	ended chan struct{}
	stop  func()
}

func (l *live) hasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// beginWriting starts a writer, and maps its page.
func beginWriting(t *testing.T, options ...string) *live {
	path := filepath.Join(t.TempDir(), "page")
	writer := program(t, "TIMEBASE_WRITER", append(options, path, "300")...)
	output, err := writer.StdoutPipe()
	if err == nil {
		err = writer.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &live{ended: make(chan struct{})}
	l.stop = func() { writer.Process.Kill(); <-l.ended }
	t.Cleanup(l.stop)
	if line, err := bufio.NewReader(output).ReadString('\n'); line != "publishing\n" {
		go l.wait(writer)
		t.Fatalf("the writer says %q, %v", line, err)
	}
	go l.wait(writer)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	memory, err := syscall.Mmap(int(file.Fd()), 0, page.Size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(memory) })
	l.page = (*page.Page)(unsafe.Pointer(&memory[0]))
	return l
}

// wait closes the writer's output as well: what was wanted of it has been read.
func (l *live) wait(writer *exec.Cmd) {
	writer.Wait()
	close(l.ended)
}

// reader tries all that read a page, in turn.
type reader struct {
	page                               *page.Page
	t0                                 uint64
	now, instant, at, none, torn, back int
	newest                             uint64
	latest                             int64
}

func (r *reader) accepted() int { return r.now + r.instant + r.at }

func (r *reader) look(i uint64) {
	switch i % 3 {
	case 0:
		r.readNow(i)
	case 1:
		var seen line.Instant
		if r.page.Instant(&seen) {
			r.instant++
			r.judge(seen)
			r.goOn(seen.Mono)
		} else {
			r.none++
		}
	case 2:
		if seen, ok := r.page.At(r.t0 + i*0x9e3779b97f4a7c15>>22); ok {
			r.at++
			r.judge(seen)
		} else {
			r.none++
		}
	}
}

// readNow gives no tick: what it says must be the law of some tick that was meanwhile.
func (r *reader) readNow(i uint64) {
	read := page.Read
	if i%2 == 1 {
		read = page.ReadUnordered
	}
	first := counter.Begin() - r.t0
	mono, utc, ok := read(r.page)
	if !ok {
		mono, utc, ok = r.page.ReadAny()
	}
	last := counter.End() - r.t0
	if !ok {
		r.none++ // a publication fell in between: a reader tries again
		return
	}
	r.now++
	n := lawNumber(mono, utc)
	if mono < lawMono(n, first) || mono > lawMono(n, last) {
		r.torn++
		return
	}
	r.follow(n)
	r.goOn(mono)
}

func (r *reader) judge(seen line.Instant) {
	n := lawNumber(seen.Mono, seen.UTC)
	if seen != law(n, seen.Ticks, r.t0) {
		r.torn++
		return
	}
	r.follow(n)
}

func (r *reader) follow(n uint64) {
	if n < r.newest {
		r.back++
	}
	r.newest = n
}

func (r *reader) goOn(mono int64) {
	if mono < r.latest {
		r.back++
	}
	r.latest = mono
}

func reads(t *testing.T, usual int) int {
	text := os.Getenv("TIMEBASE_TEST_READS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		t.Fatalf("TIMEBASE_TEST_READS=%s is no number", text)
	}
	return n
}

// isEnough: so many readings, of each kind, and of a writer that was at work.
func (r *reader) isEnough(wanted int) bool {
	return r.accepted() >= wanted &&
		(r.torn > 0 || r.newest >= 1000 && r.now > 0 && r.instant > 0 && r.at > 0)
}

// run reads until that is enough, or to the end of the writer.
func run(t *testing.T, l *live, wanted int) *reader {
	p := l.page
	r := &reader{page: p, t0: p.Counts().Disruption}
	if err := p.Validate(); err != nil && !strings.Contains(err.Error(), "changed") {
		t.Log(err)
		r.torn++ // lines that cannot be are of two publications
	}
	for i := uint64(0); !r.isEnough(wanted) && (i%1024 != 0 || !l.hasEnded()); i++ {
		r.look(i)
	}
	t.Logf("%d of now, %d instants, %d of other ticks; newest %d", r.now, r.instant, r.at, r.newest)
	return r
}

// sum of what several readers found.
type sum struct{ read, none, torn, back int }

func (s *sum) add(r *reader) {
	s.read += r.accepted()
	s.none += r.none
	s.torn += r.torn
	s.back += r.back
}

// A writer lives for 300 s at the most, so a long torture has one after the other; a slow one, too.
func TestNothingIsTornUnderALiveWriter(t *testing.T) {
	const round = 20_000_000
	var all sum
	for left := reads(t, 5_000_000); left > 0; {
		wanted := left
		if wanted > round {
			wanted = round
		}
		l := beginWriting(t)
		r := run(t, l, wanted)
		if r.torn != 0 || r.back != 0 || r.now == 0 || r.instant == 0 || r.at == 0 || r.newest < 1000 {
			t.Fatal("torn readings, readings that go back, or a kind of reading that did not happen")
		}
		for seq := l.page.Seq(); l.page.Seq() == seq && !l.hasEnded(); runtime.Gosched() {
			// to the end there was a writer
		}
		l.stop()
		left -= r.accepted()
		all.add(r)
	}
	t.Logf("%d readings, %d without a line, %d torn, %d backwards", all.read, all.none, all.torn, all.back)
}

// The same finds what is wrong with a writer that does not keep the protocol.
func TestABrokenWriterIsFoundOut(t *testing.T) {
	if r := run(t, beginWriting(t, "--broken"), 2_000_000); r.torn == 0 {
		t.Error("a broken writer, and nothing torn was found")
	}
}

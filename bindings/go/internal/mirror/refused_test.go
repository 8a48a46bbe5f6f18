// SPDX-License-Identifier: MIT

//go:build linux

package mirror

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/page"
	"timebase.example/timebase/internal/pagetest"
)

func newWriter(t *testing.T) *pagetest.Writer {
	t.Helper()
	folder, remove, err := pagetest.Folder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	w, err := pagetest.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func attach(t *testing.T, w *pagetest.Writer) *Mirror {
	t.Helper()
	m, err := Attach(w.Path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// refuses: attaching fails with this kind, and says the words.
func refuses(t *testing.T, path string, kind fault.Kind, words ...string) {
	t.Helper()
	before := descriptors(t)
	m, err := Attach(path, "/nowhere")
	if err == nil {
		m.Close()
		t.Fatalf("%s was accepted", path)
	}
	if !errors.Is(err, kind) {
		t.Fatalf("%v, where this was to come: %v", err, kind)
	}
	var named *fault.Error
	if !errors.As(err, &named) || !strings.HasPrefix(path, named.Path) || named.Path == "" {
		t.Errorf("%v does not say where", err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors were left open", after-before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// spoilt is a file beside the page with the bytes of a good one, changed.
func spoilt(t *testing.T, w *pagetest.Writer, change func([]byte) []byte) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(w.Path), "spoilt")
	if err := os.WriteFile(path, change(w.Bytes()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func put32(b []byte, at int, value uint32) []byte {
	page.Native.PutUint32(b[at:], value)
	return b
}

func TestAGoodPageIsAccepted(t *testing.T) {
	m := attach(t, newWriter(t))
	first, _ := lookAtClocks()
	now := m.Read()
	if last, ok := lookAtClocks(); !ok || isOutside(now.UTC, first.utc, last.utc, toleranceNS) ||
		isOutside(now.Mono, first.mono, last.mono, toleranceNS) {
		t.Errorf("%+v, and the kernel's clocks %+v, %+v", now, first, last)
	}
	if a := m.Attachment(); a.State != Current || a.Err != nil || a.Seq != 1 || a.Openings != 1 {
		t.Errorf("%+v", a)
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	refuses(t, "/nowhere/page", fault.NotFound, "timebased")
	_, err := Attach("/nowhere/page", "")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	for _, path := range []string{"", "/", "/tmp/"} {
		if _, err := Attach(path, ""); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestARelativePathIsOfTheWorkingDirectory(t *testing.T) {
	w := newWriter(t)
	was, _ := os.Getwd()
	defer os.Chdir(was)
	os.Chdir(filepath.Dir(w.Path))
	m, err := Attach("page", "")
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
}

func TestWhoCouldHaveWrittenItIsRefused(t *testing.T) {
	w := newWriter(t)
	folder := filepath.Dir(w.Path)
	link := filepath.Join(folder, "link")
	os.Symlink(w.Path, link)
	refuses(t, link, fault.Untrusted, "link")
	os.Symlink(folder, filepath.Join(folder, "by"))
	refuses(t, filepath.Join(folder, "by", "page"), fault.Untrusted, "link")
	fifo := filepath.Join(folder, "fifo")
	syscall.Mkfifo(fifo, 0o644)
	refuses(t, fifo, fault.Untrusted, "no regular file")
	refuses(t, "/dev/null", fault.Untrusted, "no regular file")
	refuses(t, folder, fault.Untrusted, "no regular file")
	os.Chmod(w.Path, 0o664)
	refuses(t, w.Path, fault.Untrusted, "others may write it", "chmod")
	os.Chmod(w.Path, 0o644)
	os.Chmod(folder, 0o777)
	refuses(t, w.Path, fault.Untrusted, "others may write into the folder")
	os.Chmod(folder, 0o755)
}

func TestOtherOwnersAreRefused(t *testing.T) {
	if syscall.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	w := newWriter(t)
	folder := filepath.Dir(w.Path)
	os.Chown(w.Path, 1234, 1234)
	refuses(t, w.Path, fault.Untrusted, "neither root nor this user")
	os.Chown(folder, 1234, 1234)
	refuses(t, w.Path, fault.Untrusted, "neither root nor this user")
	// The service folder's owner counts as root, if nobody else can have put it there.
	if _, err := Attach(w.Path, folder); !errors.Is(err, fault.Untrusted) {
		t.Errorf("%v: /tmp lets others put a service folder there", err)
	}
	inner := filepath.Join(folder, "inner")
	os.Chown(folder, 0, 0)
	os.Mkdir(inner, 0o755)
	os.Rename(w.Path, filepath.Join(inner, "page"))
	os.Chown(inner, 1234, 1234)
	m, err := Attach(filepath.Join(inner, "page"), inner)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
}

func TestAFileSystemInUserSpaceIsNotBelieved(t *testing.T) {
	defer func(was func(int, *syscall.Statfs_t) error) { fstatfs = was }(fstatfs)
	w := newWriter(t)
	fstatfs = func(fd int, s *syscall.Statfs_t) error {
		s.Type = fuseMagic
		return nil
	}
	refuses(t, w.Path, fault.Untrusted, "user space")
}

func TestAFileThatIsNoPageIsRefused(t *testing.T) {
	w := newWriter(t)
	other := uint32(counter.OS)
	if counter.Here() == counter.OS {
		other = uint32(counter.X86TSC)
	}
	lines := w.Lines()
	for _, c := range []struct {
		change func([]byte) []byte
		kind   fault.Kind
		words  string
	}{
		{func(b []byte) []byte { return b[:0] }, fault.Format, "0 bytes"},
		{func(b []byte) []byte { return b[:639] }, fault.Format, "cut short"},
		{func(b []byte) []byte { return put32(b, 24, 1)[:512] }, fault.Format, "version 1"},
		{func(b []byte) []byte { return put32(b, 24, 1) }, fault.Format, "version 1"},
		{func(b []byte) []byte { return put32(b, 24, 3) }, fault.Format, "reads version 2"},
		{func(b []byte) []byte { return put32(b, 16, 0x54425047) }, fault.Format, "byte order"},
		{func(b []byte) []byte { return put32(b, 56, 1) }, fault.Unsupported, "corrected by CPU"},
		{func(b []byte) []byte { return put32(b, 56, 6) }, fault.Unsupported, "0x6"},
		{func(b []byte) []byte { return put32(b, 28, other) }, fault.Unsupported, "counter"},
		{func(b []byte) []byte { page.Native.PutUint64(b, 0); return b }, fault.Stale, "no lines yet"},
		{func(b []byte) []byte { return put32(b, 384+32, 2000) }, fault.Format, "1,000 ns"},
		{func(b []byte) []byte { return bytes.Repeat([]byte{1}, 4096) }, fault.Format, "begins with"},
		{shifted(16, 1<<40), fault.Stale, "off CLOCK_REALTIME"},
		{shifted(8, 1<<40), fault.Stale, "off CLOCK_MONOTONIC"},
		{shifted(0, 1000*lines.Ticks(1e9)), fault.Stale, "not begun"},
	} {
		refuses(t, spoilt(t, w, c.change), c.kind, c.words)
	}
}

// shifted adds to one word of each line of copy[1].
func shifted(at int, by uint64) func([]byte) []byte {
	return func(b []byte) []byte {
		for line := 384; line < 384+192; line += 64 {
			page.Native.PutUint64(b[line+at:], page.Native.Uint64(b[line+at:])+by)
		}
		return b
	}
}

// The hostile vectors, as files.
func TestRandomBytesAreRefused(t *testing.T) {
	w := newWriter(t)
	for i := 0; i < 300; i++ {
		path := spoilt(t, w, func(b []byte) []byte {
			for j := 0; j < 40; j++ {
				b[16+(i*131+j*j*17+j)%624] ^= byte(i*7 + j*29 + 1)
			}
			return b
		})
		if m, err := Attach(path, ""); err == nil {
			m.Read()
			m.Close()
		}
	}
}

// SPDX-License-Identifier: MIT

package mirror

import (
	"path/filepath"
	"syscall"

	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/page"
)

const (
	copyAttempts = 8 // a copy takes a microsecond, and nobody publishes so often
	standardFDs  = 3 // descriptors that a program may take for its own standard ones
)

// sharedFile is another process' page, read and never mapped: a file may be cut short, replaced or
// made hostile at any moment. A read then says so, where memory would raise SIGBUS, and what has been
// copied cannot be changed between the check and the use.
type sharedFile struct {
	fd    int // below 0: none
	dev   uint64
	ino   uint64
	owner uint32 // beside root and this user: who may own the file
	path  string
}

// openShared opens an absolute path, under the conditions that docs/guide/share.md states.
func openShared(path, service string) (sharedFile, error) {
	f := sharedFile{fd: -1, path: path}
	w, name, err := walk(path, service)
	if err != nil {
		return f, err
	}
	defer syscall.Close(w.folder)
	f.owner = w.owner
	return f, f.openIn(w.folder, name)
}

// openIn looks at the file before opening it, because opening some devices acts on them; and after,
// because by then the name may lead to another file. O_NONBLOCK: if that is a pipe, nobody waits for
// its writer.
func (f *sharedFile) openIn(folder int, name string) error {
	look, err := openAt(folder, name, oPath|syscall.O_NOFOLLOW)
	if err != nil {
		return refused(f.path, err)
	}
	_, err = f.check(look)
	syscall.Close(look)
	if err != nil {
		return err
	}
	f.fd, err = openAt(folder, name,
		syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY)
	if err != nil {
		f.fd = -1
		return refused(f.path, err)
	}
	f.fd = awayFromStandard(f.fd)
	s, err := f.check(f.fd)
	if err == nil && !isKernels(f.fd) {
		err = untrusted(f.path, "it is of a file system in user space, which shows what it likes")
	}
	if err == nil && s.Size < page.Size {
		err = f.tooShort(s.Size)
	}
	if err != nil {
		syscall.Close(f.fd)
		f.fd = -1
		return err
	}
	f.dev, f.ino = uint64(s.Dev), s.Ino
	return nil
}

func awayFromStandard(fd int) int {
	if fd >= standardFDs {
		return fd
	}
	other, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, standardFDs)
	if errno != 0 {
		return fd
	}
	syscall.Close(fd)
	return int(other)
}

// check: it is a regular file that only those who are believed may write.
func (f *sharedFile) check(fd int) (*syscall.Stat_t, error) {
	var s syscall.Stat_t
	if err := syscall.Fstat(fd, &s); err != nil {
		return nil, refused(f.path, err)
	}
	switch {
	case s.Mode&syscall.S_IFMT == syscall.S_IFLNK:
		return nil, untrusted(f.path, "it is a link: give the path without links (realpath)")
	case s.Mode&syscall.S_IFMT != syscall.S_IFREG:
		return nil, untrusted(f.path, "it is no regular file")
	case !isOwner(&s, f.owner):
		return nil, untrusted(f.path, "it belongs to neither root nor this user")
	case s.Mode&othersMayWrite != 0:
		return nil, untrusted(f.path, "others may write it: chmod go-w")
	}
	return &s, nil
}

// tooShort: but one of version 1 is to be told so.
func (f *sharedFile) tooShort(size int64) error {
	b := make([]byte, size)
	err := f.readAt(b)
	if err == nil {
		_, err = page.FromBytes(b, page.Native)
	}
	return fault.In(f.path, err)
}

// isOpen: the program may have closed it, and opened another by that number.
func (f *sharedFile) isOpen() bool {
	_, ok := f.stat()
	return ok
}

func (f *sharedFile) stat() (s syscall.Stat_t, ok bool) {
	ok = f.fd >= 0 && syscall.Fstat(f.fd, &s) == nil && uint64(s.Dev) == f.dev && s.Ino == f.ino
	return s, ok
}

func (f *sharedFile) isSame(other *sharedFile) bool {
	return f.fd >= 0 && other.fd >= 0 && f.dev == other.dev && f.ino == other.ino
}

func (f *sharedFile) close() {
	if f.isOpen() {
		syscall.Close(f.fd)
	}
	f.fd = -1
}

// readAt fills b from the beginning of the file.
func (f *sharedFile) readAt(b []byte) error {
	n, err := retried(func() (int, error) { return syscall.Pread(f.fd, b, 0) })
	if err != nil {
		return refused(f.path, err)
	}
	if n != len(b) {
		return fault.In(f.path, fault.Format.Because("it was cut short: %d bytes of %d are left", n, len(b)))
	}
	return nil
}

func (f *sharedFile) readSeq() (uint64, error) {
	var b [8]byte
	if err := f.readAt(b[:]); err != nil {
		return 0, err
	}
	seq := page.Native.Uint64(b[:])
	if seq == 0 {
		return 0, fault.In(f.path, fault.Stale.Because("it has no lines yet: its writer has not begun; try again"))
	}
	return seq, nil
}

// seq is the number of the present publication. Nothing is read that the program has opened in the
// file's place: reading some devices acts on them.
func (f *sharedFile) seq() (uint64, error) {
	if !f.isOpen() {
		return 0, f.gone()
	}
	return f.readSeq()
}

func (f *sharedFile) gone() error {
	return fault.In(f.path, fault.NotFound.Because("%s was deleted, or the program has closed its descriptor",
		filepath.Base(f.path)))
}

// copyOnce is the reader's side of the protocol, by system calls: the kernel loads on behalf of this
// thread, and each call is a barrier to the compiler. False: torn.
func (f *sharedFile) copyOnce(b []byte) (seq uint64, whole bool, err error) {
	if seq, err = f.readSeq(); err != nil { // (A)
		return 0, false, err
	}
	if err = f.readAt(b); err != nil {
		return 0, false, err
	}
	again, err := f.readSeq() // (C)
	return seq, again == seq, err
}

// copy takes a consistent, valid copy, and looks again at who may write the file.
func (f *sharedFile) copy() (*page.Page, error) {
	s, ok := f.stat()
	if !ok || s.Nlink == 0 {
		return nil, f.gone()
	}
	if _, err := f.check(f.fd); err != nil {
		return nil, err
	}
	var b [page.Size]byte
	for i := 0; i < copyAttempts; i++ {
		seq, whole, err := f.copyOnce(b[:])
		if err != nil {
			return nil, err
		}
		if whole {
			page.Native.PutUint64(b[:], seq)
			return f.valid(b[:])
		}
	}
	return nil, fault.In(f.path, fault.Torn.Because("it is written without pause: %d copies were all torn", copyAttempts))
}

func (f *sharedFile) valid(b []byte) (*page.Page, error) {
	p, err := page.FromBytes(b, page.Native)
	if err == nil {
		err = p.Validate()
	}
	return p, fault.In(f.path, err)
}

// SPDX-License-Identifier: MIT

package mirror

import (
	"strings"
	"syscall"

	"timebase.example/timebase/internal/fault"
)

// Who could have put a file where it is. A path is walked folder by folder, each held open while the
// next is looked up, so that what has been checked is what is used (src/clock/attach/trusted.h).

const (
	root           = 0
	sticky         = 0o1000
	othersMayWrite = 0o022
	oPath          = 0x200000 // O_PATH, which package syscall lacks
	fuseMagic      = 0x65735546
)

func openAt(folder int, name string, flags int) (int, error) {
	return retried(func() (int, error) {
		return syscall.Openat(folder, name, flags|syscall.O_CLOEXEC, 0)
	})
}

func isOwner(s *syscall.Stat_t, owner uint32) bool {
	return s.Uid == root || s.Uid == owner || s.Uid == uint32(syscall.Geteuid())
}

// isSafe: it belongs to root, this user or owner, and nobody else may write it.
func isSafe(s *syscall.Stat_t, owner uint32) bool {
	return isOwner(s, owner) && s.Mode&othersMayWrite == 0
}

// checkFolder: what lies in this folder is there by the will of its owner.
func checkFolder(folder int, path string, owner uint32) error {
	var s syscall.Stat_t
	if err := syscall.Fstat(folder, &s); err != nil {
		return refused(path, err)
	}
	if !isOwner(&s, owner) {
		return untrusted(path, "the folder belongs to neither root nor this user")
	}
	if s.Mode&sticky == 0 && s.Mode&othersMayWrite != 0 {
		return untrusted(path, "others may write into the folder: chmod go-w")
	}
	return nil
}

// ownerOf is the user to whom root or this user gave the folder; a sticky one of others names nobody.
func ownerOf(folder int) uint32 {
	var s syscall.Stat_t
	if syscall.Fstat(folder, &s) == nil && s.Mode&othersMayWrite == 0 {
		return s.Uid
	}
	return root
}

// fstatfs: tests put a file system in user space in its place.
var fstatfs = syscall.Fstatfs

// A file system in user space shows any owner and mode, and answers when it likes.
func isKernels(fd int) bool {
	var s syscall.Statfs_t
	return fstatfs(fd, &s) == nil && uint32(s.Type) != fuseMagic
}

// walker is somewhere on its way from the root to a file's folder.
type walker struct {
	folder  int
	path    string // of folder
	owner   uint32 // beside root and this user: who may own the file
	service string // the folder whose owner counts as root
}

// walk goes to the last folder of an absolute path. The caller closes w.folder.
func walk(path, service string) (w walker, name string, err error) {
	last := strings.LastIndexByte(path, '/')
	if !strings.HasPrefix(path, "/") || path[last+1:] == "" {
		return w, "", &fault.Error{Kind: fault.Invalid, Path: path, Why: "it names no file"}
	}
	w = walker{path: "/", owner: root, service: service}
	if w.folder, err = openAt(-100, "/", oPath|syscall.O_DIRECTORY); err != nil {
		return w, "", refused("/", err)
	}
	err = checkFolder(w.folder, "/", root)
	for end := 1; err == nil && end <= last; end++ {
		if path[end] == '/' {
			err = w.stepTo(path[:end])
		}
	}
	if err != nil {
		syscall.Close(w.folder)
	}
	return w, path[last+1:], err
}

// stepTo goes to the folder of this path, which is directly below.
func (w *walker) stepTo(path string) error {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "" { // two slashes
		return nil
	}
	isService := path == w.service && w.isSafeParent()
	below, err := openAt(w.folder, name, oPath|syscall.O_DIRECTORY|syscall.O_NOFOLLOW)
	if err != nil {
		return refused(path, err)
	}
	syscall.Close(w.folder)
	w.folder, w.path = below, path
	if !isKernels(below) {
		return untrusted(path, "the folder is of a file system in user space, which shows what it likes")
	}
	owner := uint32(root)
	if isService {
		owner = ownerOf(below)
		w.owner = owner
	}
	return checkFolder(below, path, owner)
}

// isSafeParent: nobody else can have put the service folder there.
func (w *walker) isSafeParent() bool {
	var s syscall.Stat_t
	return syscall.Fstat(w.folder, &s) == nil && isSafe(&s, root)
}

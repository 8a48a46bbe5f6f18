// SPDX-License-Identifier: MIT

package mirror

import (
	"syscall"

	"timebase.example/timebase/internal/fault"
)

// refused is what a failed look-up of path means.
func refused(path string, err error) error {
	switch err {
	case syscall.ENOENT:
		return &fault.Error{Kind: fault.NotFound, Path: path, Cause: err,
			Why: "there is no such file: does timebased run? In a container, mount the folder"}
	case syscall.ELOOP, syscall.ENOTDIR:
		return untrusted(path, "it is a link, or no folder, where a folder is to be: give the path without links (realpath)")
	case syscall.ENAMETOOLONG:
		return &fault.Error{Kind: fault.Invalid, Path: path, Cause: err, Why: "the name is too long"}
	}
	return &fault.Error{Kind: fault.Permission, Path: path, Cause: err,
		Why: "the kernel refuses it: " + err.Error() + "; let everybody read folder (a+rx) and file (a+r)"}
}

func untrusted(path, why string) error {
	return &fault.Error{Kind: fault.Untrusted, Path: path, Why: why}
}

// retried repeats a system call that a signal has interrupted.
func retried(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}

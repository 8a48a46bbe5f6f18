// SPDX-License-Identifier: MIT

//go:build linux

package timebase

import (
	"fmt"
	"os"
	"testing"

	"timebase.example/timebase/internal/pagetest"
)

var (
	writer *pagetest.Writer
	// inExamples stands for PagePath there.
	inExamples string
)

// All tests and examples have a page that is kept, and its clock for the package's functions.
func TestMain(m *testing.M) {
	os.Exit(withPage(m.Run))
}

func withPage(run func() int) int {
	folder, remove, err := pagetest.Folder()
	if err == nil {
		defer remove()
		writer, err = pagetest.New(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer writer.Keep().Close()
	defaultPage, inExamples = writer.Path, writer.Path
	return run()
}

// SPDX-License-Identifier: MIT

//go:build !linux

package mirror

import (
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// Mirror is a clock that follows another process' page: on Linux.
type Mirror struct{}

// Attach has no page to follow here.
func Attach(path, service string) (*Mirror, error) {
	return nil, fault.In(path, fault.Unsupported.Because("pages are kept on Linux alone"))
}

// Page has no lines.
func (m *Mirror) Page() *page.Page { return new(page.Page) }

// Maintain has nothing to do.
func (m *Mirror) Maintain() error { return fault.Unsupported }

// Close has nothing to give back.
func (m *Mirror) Close() {}

// Attachment has nothing to tell.
func (m *Mirror) Attachment() Attachment { return Attachment{Err: fault.Unsupported} }

// Lines are none.
func (m *Mirror) Lines() line.Lines { return line.Lines{} }

// Read knows nothing.
func (m *Mirror) Read() line.Instant { return line.Instant{} }

// SPDX-License-Identifier: MIT

package page

import (
	"math/rand"
	"testing"
	"time"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
)

var sink int64

func BenchmarkRead(b *testing.B) {
	p := pageAround(rand.New(rand.NewSource(1)), line.After)
	for i := 0; i < b.N; i++ {
		_, utc, _ := Read(p)
		sink = utc
	}
}

func BenchmarkReadAny(b *testing.B) {
	p := pageAround(rand.New(rand.NewSource(1)), line.After)
	for i := 0; i < b.N; i++ {
		_, utc, _ := p.ReadAny()
		sink = utc
	}
}

func BenchmarkInstant(b *testing.B) {
	p := pageAround(rand.New(rand.NewSource(1)), line.After)
	var now line.Instant
	for i := 0; i < b.N; i++ {
		p.Instant(&now)
		sink = now.UTC
	}
}

func BenchmarkOrdered(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = int64(counter.Ordered())
	}
}

func BenchmarkNow(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = time.Now().UnixNano()
	}
}

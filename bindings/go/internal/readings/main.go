// SPDX-License-Identifier: MIT

// readings is every way to read the clock, and little else. It is built for each processor, and not
// run: the test of their order looks at what was compiled (internal/stand/order_test.go).
package main

import (
	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

func main() {
	var p page.Page
	var now line.Instant
	println(page.Read(&p))
	println(page.ReadUnordered(&p))
	println(p.Instant(&now), now.UTC)
	println(counter.Ticks(), counter.Ordered(), counter.Begin(), counter.End())
}

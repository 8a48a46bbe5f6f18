// SPDX-License-Identifier: MIT

// The empty Go program: what every Go start-up is compared with.
package main

import "timebase/bench/peers/probe"

func main() { probe.Run(func() int64 { return 0 }, false) }

// SPDX-License-Identifier: MIT

package main

import (
	"time"

	"timebase/bench/peers/probe"
)

func main() { probe.Run(func() int64 { return time.Now().UnixNano() }, false) }

// SPDX-License-Identifier: MIT

package main

import (
	"github.com/templexxx/tsc"

	"timebase/bench/peers/probe"
)

func main() { probe.Run(func() int64 { return tsc.UnixNano() }, !tsc.Supported()) }

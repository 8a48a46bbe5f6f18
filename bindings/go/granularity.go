// SPDX-License-Identifier: MIT

package timebase

import (
	"math"
	"sort"
	"sync/atomic"
)

// By how many ticks a counter steps: what it can tell apart. src/clock/counter/granularity.c says why
// reads are spaced unevenly, and src/clock/counter/even_step.c how steps are found that are no whole
// number of ticks.
const (
	readsOfRound = 1024
	roundsMax    = 64 // coarse counters: most reads see no step
	evenRounds   = 4
	groupSteps   = 16
	groups       = 32

	leastTicks     = 12  // of shorter steps, few reads tell how many they are apart
	toleratedTicks = 2   // what is rounded off, and 1 that some processors add
	firstOnes      = 64  // so many differences tell how far apart reads usually are,
	stepsMax       = 256 // and where that is more steps than these, one step is nothing beside it
)

// granularity is the step of the counter that read reads, rounded up; at least 1.
func granularity(read func() uint64) uint64 {
	seed := uint32(1)
	reads := make([]uint64, readsOfRound)
	var steps []uint64
	for round := 0; round < roundsMax; round++ {
		if len(steps) >= groups*groupSteps && round >= evenRounds {
			break
		}
		readUnevenly(reads, read, &seed)
		if even := evenStep(reads); even > 0 {
			return uint64(math.Ceil(even))
		}
		for _, difference := range differences(reads) {
			if difference > 0 {
				steps = append(steps, uint64(difference))
			}
		}
	}
	return commonStep(steps)
}

// How many turns a pause takes: another number each time, below 32.
func turns(seed *uint32) uint32 {
	*seed = *seed*1664525 + 1013904223
	return *seed >> 27
}

func readUnevenly(reads []uint64, read func() uint64, seed *uint32) {
	for i := range reads {
		for left := turns(seed); left > 0; left-- {
			atomic.LoadUint32(seed) // no compiler leaves it out, nor then the pause
		}
		reads[i] = read()
	}
}

func differences(reads []uint64) []int64 {
	var all []int64
	for i := 1; i < len(reads); i++ {
		all = append(all, int64(reads[i]-reads[i-1]))
	}
	return all
}

func commonDivisor(steps []uint64) uint64 {
	divisor := uint64(0)
	for _, rest := range steps {
		for rest != 0 {
			divisor, rest = rest, divisor%rest
		}
	}
	return divisor
}

// commonStep is what nearly all steps are multiples of: the median of the divisors of groups. 1 if there
// are none.
func commonStep(steps []uint64) uint64 {
	if len(steps) == 0 {
		return 1
	}
	if len(steps) < groupSteps {
		return commonDivisor(steps)
	}
	var divisors []uint64
	for ; len(steps) >= groupSteps; steps = steps[groupSteps:] {
		divisors = append(divisors, commonDivisor(steps[:groupSteps]))
	}
	sort.Slice(divisors, func(i, j int) bool { return divisors[i] < divisors[j] })
	return divisors[len(divisors)/2]
}

// evenStep is how far the counter steps: ticks, which need not be whole ones. 0 if it does not step evenly,
// or by fewer than 12.
func evenStep(reads []uint64) float64 {
	if len(reads) < 2 {
		return 0
	}
	usual, ticks := usualDifference(reads), sinceFirst(reads)
	for steps := 1.0; steps <= stepsMax && usual >= leastTicks*steps; steps++ {
		if step := stepIf(ticks, usual, steps); step > 0 {
			return step
		}
	}
	return 0
}

// The median of the first ones.
func usualDifference(reads []uint64) float64 {
	first := differences(reads)
	if len(first) > firstOnes {
		first = first[:firstOnes]
	}
	sort.Slice(first, func(i, j int) bool { return first[i] < first[j] })
	return float64(first[len(first)/2])
}

func sinceFirst(reads []uint64) []float64 {
	var all []float64
	for _, read := range reads[1:] {
		all = append(all, float64(int64(read-reads[0])))
	}
	return all
}

// stepIf is the step, if a difference of so many ticks is so many steps; else 0. Each read that it explains
// tells it closer; most is the number of steps that told it.
func stepIf(reads []float64, differenceTicks, differenceSteps float64) float64 {
	step, most := differenceTicks/differenceSteps, differenceSteps
	for _, ticks := range reads {
		steps := math.Round(ticks / step)
		errorTicks := steps / most
		if errorTicks > step/4 {
			return 0 // no telling how many steps it is
		}
		if steps > most && math.Abs(ticks-steps*step) <= toleratedTicks+errorTicks {
			step, most = ticks/steps, steps
		}
	}
	if !explains(step, reads) {
		return 0
	}
	if whole := math.Round(step); math.Abs(step-whole)*most <= toleratedTicks {
		return whole
	}
	return step
}

// Nine reads in ten.
func explains(step float64, reads []float64) bool {
	explained := 0
	for _, ticks := range reads {
		if math.Abs(ticks-math.Round(ticks/step)*step) <= toleratedTicks {
			explained++
		}
	}
	return explained*10 >= len(reads)*9
}

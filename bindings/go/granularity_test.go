// SPDX-License-Identifier: MIT

package timebase

import (
	"math"
	"testing"
)

// As tests/unit/counter_granularity.c has it for C.

// counted is a counter that is read every so often, and each time a little later.
type counted struct {
	step    float64
	apart   uint32
	addsOne bool // to a read that would equal the one before
	instant float64
	told    uint64
	seed    uint32
}

func (c *counted) read() uint64 {
	c.instant += float64(c.apart + turns(&c.seed))
	shown := uint64(math.Floor(c.instant/c.step) * c.step)
	if c.addsOne && shown <= c.told {
		shown = c.told + 1
	}
	c.told = shown
	return shown
}

var stepsAndGranularities = map[float64]uint64{1: 1, 2: 2, 10: 10, 26: 26, 24.5: 25, 24.576: 25, 33.3: 34}

func TestStepsAreFoundWhateverTheirLength(t *testing.T) {
	for step, want := range stepsAndGranularities {
		for seed := uint32(0); seed < 50; seed++ {
			c := counted{step: step, apart: 30, instant: 1e6, seed: seed}
			if got := granularity(c.read); got != want {
				t.Errorf("%v, seed %d: %d, not %d", step, seed, got, want)
			}
		}
	}
}

func TestAOneThatAProcessorAddsDoesNotHideTheStep(t *testing.T) {
	for seed := uint32(0); seed < 50; seed++ {
		c := counted{step: 26, apart: 6, addsOne: true, instant: 1e6, seed: seed}
		if got := granularity(c.read); got != 26 {
			t.Errorf("seed %d: %d", seed, got)
		}
	}
}

func TestAFineCounterIsNotTakenForACoarseOne(t *testing.T) {
	now, seed := uint64(0), uint32(1)
	if got := granularity(func() uint64 { now += 40 + uint64(turns(&seed)); return now }); got != 1 {
		t.Errorf("read unevenly: %d", got)
	}
	// What reads at a constant distance would make of it.
	if got := granularity(func() uint64 { now += 40; return now }); got != 40 {
		t.Errorf("read evenly: %d", got)
	}
}

func TestARoundThatWasHeldUpDoesNotHideTheStep(t *testing.T) {
	for step, want := range stepsAndGranularities {
		for _, heldUp := range []int{1, 2, 3, 10, 100, 500, readsOfRound - 1} {
			c := counted{step: step, apart: 30, instant: 1e6, seed: uint32(heldUp)}
			reads := 0
			got := granularity(func() uint64 {
				if reads == heldUp {
					c.instant += 100_000
				}
				reads++
				return c.read()
			})
			if got != want {
				t.Errorf("%v, held up before read %d: %d, not %d", step, heldUp, got, want)
			}
		}
	}
}

func TestCountersThatStandStillOrGoBackStepByOne(t *testing.T) {
	if got := granularity(func() uint64 { return 5 }); got != 1 {
		t.Errorf("still: %d", got)
	}
	now := uint64(0)
	if got := granularity(func() uint64 { now -= 24; return now }); got != 1 {
		t.Errorf("back: %d", got)
	}
}

func TestTheCommonStepOfFewStepsAndOfOddOnes(t *testing.T) {
	if got := commonStep(nil); got != 1 {
		t.Errorf("of none: %d", got)
	}
	if got := commonStep([]uint64{40, 80, 120}); got != 40 {
		t.Errorf("of three: %d", got)
	}
	for odd := 0; odd < 12; odd++ {
		steps := make([]uint64, groups*groupSteps)
		for i := range steps {
			steps[i] = 26 * uint64(1+i%5)
			if i/40 < odd && i%40 == 7 {
				steps[i]++
			}
		}
		if got := commonStep(steps); got != 26 {
			t.Errorf("with %d odd ones: %d", odd, got)
		}
	}
}

func TestShortStepsAreNotTakenForEven(t *testing.T) {
	reads := make([]uint64, readsOfRound)
	for step := 1; step < 12; step++ {
		c := counted{step: float64(step), apart: 30, instant: 1e6}
		for i := range reads {
			reads[i] = c.read()
		}
		if got := evenStep(reads); got != 0 {
			t.Errorf("%d: %v", step, got)
		}
	}
}

func TestTooFewReadsHaveNoEvenStep(t *testing.T) {
	if evenStep(nil) != 0 || evenStep([]uint64{1000}) != 0 {
		t.Error("they have one")
	}
}

func TestTheStepOfThisMachine(t *testing.T) {
	if got := granularity(Ticks); got < 1 {
		t.Error(got)
	}
}

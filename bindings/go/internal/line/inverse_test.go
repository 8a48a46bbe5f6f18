// SPDX-License-Identifier: MIT

package line

import (
	"math/rand"
	"testing"
)

// The tick of a time is the one that bit by bit is found, whatever the lines: the conversion is the only
// judge. As tests/unit/inverse.c has it for C.

// Of any length.
func some(dice *rand.Rand) uint64 { return dice.Uint64() >> uint(dice.Intn(64)) }

func near(dice *rand.Rand, value uint64) uint64 {
	switch dice.Intn(5) {
	case 0:
		return value
	case 1:
		return value + 1
	case 2:
		return value - 1
	case 3:
		return value + some(dice)
	}
	return value - some(dice)
}

// Each bit is set if the last tick without it is too early.
func byBits(l *Lines, target int64, isUTC bool) uint64 {
	reach := uint(62)
	for period := l.After.Period; period != 0; period /= 2 {
		reach--
	}
	found := l.After.Start - 1<<reach
	for bit := int(reach); bit >= 0; bit-- {
		step := uint64(1) << uint(bit)
		at := l.At(found + step - 1)
		if !isUTC && at.Mono < target || isUTC && at.UTC < target {
			found += step
		}
	}
	return found
}

func expectSameNearTheLines(t *testing.T, dice *rand.Rand, l *Lines) {
	t.Helper()
	for i := 0; i < 6; i++ {
		of, isUTC := [...]*Line{&l.Before, &l.Slew, &l.After}[dice.Intn(3)], dice.Intn(2) == 0
		target := int64(near(dice, of.Mono))
		if isUTC {
			target = int64(near(dice, of.UTC))
		}
		if i == 0 {
			target = int64(dice.Uint64())
		}
		if got, want := l.FirstTick(target, isUTC), byBits(l, target, isUTC); got != want {
			t.Fatalf("the first tick of %d (UTC: %t) is %d, not %d: %+v", target, isUTC, got, want, l)
		}
	}
}

// draw makes each line begin where the one before ends; UTC may be stepped there, by up to so much.
func draw(dice *rand.Rand, frac uint64, period uint32, step int64) *Lines {
	var l Lines
	ticks, mono := some(dice), some(dice)>>2
	utc := mono + 1_790_000_000_000_000_000
	for i, of := range []*Line{&l.Before, &l.Slew, &l.After} {
		*of = Line{Start: ticks, Mono: mono, UTC: utc, Frac: frac, Period: period}
		if i == 1 {
			of.Frac += frac >> 11
		}
		span := dice.Uint64() >> uint(24+dice.Intn(40))
		elapsed := Elapsed(of.Frac, period, span)
		ticks, mono, utc = ticks+span, mono+elapsed, utc+elapsed
		if step != 0 {
			utc += uint64(dice.Int63n(2*step) - step)
		}
	}
	return &l
}

func TestAnInverseIsThatOfTheConversion(t *testing.T) {
	for name, lines := range map[string]func(dice *rand.Rand) *Lines{
		"as they are published": func(dice *rand.Rand) *Lines {
			period := uint32(0)
			if dice.Intn(4) == 0 {
				period = uint32(dice.Intn(1000))
			}
			return draw(dice, dice.Uint64()>>uint(1+dice.Intn(3)), period, 0)
		},
		"with UTC stepped between them": func(dice *rand.Rand) *Lines {
			return draw(dice, dice.Uint64()>>1, 0, 1_000_000_000)
		},
		"of ticks of no length and of seconds": func(dice *rand.Rand) *Lines {
			return draw(dice, some(dice)*uint64(dice.Intn(2)), uint32(some(dice))*uint32(dice.Intn(2)), 1)
		},
		// In no order, over the ends of all numbers.
		"that nobody makes": func(dice *rand.Rand) *Lines {
			var l Lines
			ticks, ns := dice.Uint64()*uint64(dice.Intn(2)), dice.Uint64()*uint64(dice.Intn(2))
			for _, of := range []*Line{&l.Before, &l.Slew, &l.After} {
				*of = Line{Start: near(dice, ticks), Mono: near(dice, ns), UTC: near(dice, ns),
					Frac: some(dice), Period: uint32(some(dice)) * uint32(dice.Intn(2))}
			}
			return &l
		},
	} {
		t.Run(name, func(t *testing.T) {
			dice := rand.New(rand.NewSource(6))
			for i := 0; i < 5000; i++ {
				expectSameNearTheLines(t, dice, lines(dice))
			}
		})
	}
}

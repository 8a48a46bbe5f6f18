// SPDX-License-Identifier: MIT

package line

import (
	"math/big"
	"math/rand"
	"testing"
)

const lease = 20_000_000

// someLines are lines without a gap, of a counter of 20 MHz to 5 GHz, that begin where they like.
func someLines(dice *rand.Rand) Lines {
	hz := 20e6 + dice.Float64()*5e9
	length := 1e9 / hz
	l := Line{Start: dice.Uint64(), Mono: uint64(dice.Int63n(1 << 50)), UTC: dice.Uint64(),
		Period: uint32(length), MaxError: uint64(dice.Intn(1000)), DriftRate: 1000, SlewRate: 10000}
	l.Frac = uint64((length - float64(l.Period)) * (1 << 63) * 2)
	lines := Lines{Before: l}
	lines.Slew = after(l, uint64(hz*dice.Float64()*0.1))
	lines.Slew.Frac += lines.Slew.Frac / 10000 * uint64(dice.Intn(5))
	lines.After = after(lines.Slew, uint64(hz*dice.Float64()*0.03))
	lines.After.Frac = l.Frac
	lines.Validity = Validity{Silent: uint64(5 * hz), Void: uint64(1000 * hz), EstError: [3]uint64{3, 2, 1}, EstRate: 7}
	return lines
}

func after(l Line, ticks uint64) Line {
	at := l.At(ticks)
	l.Start += ticks
	l.Mono, l.UTC = uint64(at.Mono), uint64(at.UTC)
	return l
}

// The conversion against integers without end.
func TestElapsedIsExact(t *testing.T) {
	dice := rand.New(rand.NewSource(1))
	for i := 0; i < 10000; i++ {
		frac, period, d := dice.Uint64(), uint32(dice.Intn(1001)), dice.Uint64()>>uint(1+dice.Intn(40))
		length := new(big.Int).Lsh(big.NewInt(int64(period)), 64)
		length.Add(length, new(big.Int).SetUint64(frac))
		want := length.Mul(length, new(big.Int).SetUint64(d)).Rsh(length, 64)
		want.And(want, new(big.Int).SetUint64(1<<64-1))
		if got := Elapsed(frac, period, d); got != want.Uint64() {
			t.Fatalf("%d ticks of %d + %d/2^64: %d, not %v", d, period, frac, got, want)
		}
	}
}

// What is shown is what the lines say, for a lease or until the next line begins.
func TestAViewIsWhatTheLinesSay(t *testing.T) {
	dice := rand.New(rand.NewSource(2))
	for i := 0; i < 2000; i++ {
		lines := someLines(dice)
		now := lines.Before.Start + uint64(dice.Int63n(int64(lines.Ticks(200_000_000))))
		v := lines.ViewAt(now, lease)
		if end := v.End() - now; end > lines.Ticks(lease) {
			t.Fatalf("shown for %d ticks", end)
		}
		if v.Refresh >= v.Lines.Validity.Silent || v.Lines.Validity.Silent > v.Lines.Validity.Void {
			t.Fatalf("%+v is silent while it is current", v)
		}
		for j := 0; j < 20; j++ {
			tick := now + uint64(dice.Int63n(int64(v.End()-now+1)))
			if got, want := v.Lines.At(tick), lines.At(tick); got != want {
				t.Fatalf("tick %d: %+v, not %+v", tick, got, want)
			}
		}
	}
}

// A bridge begins at the floor, rises, is never below the lines, and its bound says how far above.
func TestABridgeLeadsToTheLines(t *testing.T) {
	dice := rand.New(rand.NewSource(3))
	for i := 0; i < 2000; i++ {
		lines := someLines(dice)
		start := lines.After.Start + uint64(dice.Int63n(1<<30))
		there := lines.At(start)
		gap := 1 + dice.Int63n(3_000_000)
		v := lines.ViewJoin(&lines.After, start, there.Mono+gap, lease)
		first := v.Lines.At(start)
		if first.Mono != there.Mono+gap || first.UTC != there.UTC+gap || first.MaxError != there.MaxError+uint64(gap)+rounded {
			t.Fatalf("%+v, and the lines %+v, gap %d", first, there, gap)
		}
		last := first
		for j := uint64(0); j <= 10; j++ {
			tick := start + v.Refresh/10*j
			now, writers := v.Lines.At(tick), lines.At(tick)
			ahead := now.Mono - writers.Mono // -1: both are rounded down
			if now.Mono < last.Mono || ahead < -1 || ahead > int64(now.MaxError)-int64(writers.MaxError) {
				t.Fatalf("%+v after %+v, and the lines %+v", now, last, writers)
			}
			last = now
		}
		if lost := int64(v.Refresh) - int64(lines.Ticks(lease)); lost > 0 {
			t.Fatalf("a bridge of %d ticks is longer than a lease", v.Refresh)
		}
	}
}

// A writer that has changed UTC - monotonic time has its UTC shown from the start of the bridge on.
func TestABridgeTakesTheWritersUTC(t *testing.T) {
	lines := someLines(rand.New(rand.NewSource(4)))
	old := lines.After
	old.UTC += 1000
	start := lines.After.Start + 5000
	there := lines.At(start)
	v := lines.ViewJoin(&old, start, there.Mono+500, lease)
	if first := v.Lines.At(start); first.UTC != there.UTC || first.Mono != there.Mono+500 {
		t.Errorf("%+v, and the lines %+v", first, there)
	}
}

func TestExpiryMoves(t *testing.T) {
	for _, c := range []struct {
		ticks uint64
		by    int64
		least uint64
		want  uint64
	}{
		{100, 20, 0, 120}, {100, -20, 0, 80}, {100, -200, 7, 7}, {Never, -5, 0, Never}, {Never - 1, 5, 0, Never},
	} {
		if got := moved(c.ticks, c.by, c.least); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestNoCounterIsFasterThan1THz(t *testing.T) {
	lines := someLines(rand.New(rand.NewSource(5)))
	if !lines.IsPossible() {
		t.Error("they are possible")
	}
	lines.Slew.Period, lines.Slew.Frac = 0, 1<<54-1
	if lines.IsPossible() {
		t.Error("a counter of more than 1 THz")
	}
	var none Lines
	if none.Ticks(1000) == 0 || none.ElapsedNS(1<<63) != 0 {
		t.Error("lines without a length divide by nothing")
	}
}

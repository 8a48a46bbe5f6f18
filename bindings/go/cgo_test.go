// SPDX-License-Identifier: MIT

//go:build timebase_cgo && cgo && linux

package timebase

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"timebase.example/timebase/internal/line"
)

func TestThePrivateClockIsReadInGo(t *testing.T) {
	c := private()
	if c.Source() != SourcePrivate || c.Instant().Status() == StatusUnknown {
		t.Fatalf("%v %+v", c.Source(), c.Instant())
	}
	old := c.Mono()
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		now := c.Mono()
		if now < old {
			t.Fatalf("%v after %v", now, old)
		}
		old = now
	}
	const looks = 10000
	isRead := false
	for i := 0; i < looks && !isRead; i++ {
		c.Mono() // the lines may have come to want renewal since
		isRead = c.page.Instant(new(line.Instant))
	}
	if !isRead {
		t.Error("a clock in use has lines that Go can read")
	}
	if err := c.Maintain(); err != nil {
		t.Error(err)
	}
	isSame := false // lines all along: a tick of older ones is drawn back by newer ones
	for i := 0; i < looks && !isSame; i++ {
		seq := c.page.Seq()
		now := c.Instant()
		tick, err := c.TicksAtUTC(now.UTC)
		at, before := c.At(tick), c.At(tick-1)
		if isSame = c.page.Seq() == seq; isSame && (err != nil || tick > now.Ticks ||
			at.UTC < now.UTC || before.UTC >= now.UTC) {
			t.Errorf("%+v is not the first tick of %+v, but %+v: %v", at, now, before, err)
		}
	}
	if !isSame {
		t.Error("new lines between any two looks")
	}
}

// In a process of its own: the choice is for good.
func TestWhatCChoosesForItsCounterIsReadInGo(t *testing.T) {
	command := exec.Command("go", "run", "-tags", "timebase_cgo", "./internal/selected", writer.Path)
	if said, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

func TestEveryErrorOfCHasItsName(t *testing.T) {
	last := 0 // the library has the same words for all numbers that are no errors
	for textFromC(last-1) != textFromC(-1000) {
		last--
	}
	if -last != len(kindsFromC) {
		t.Errorf("C has %d errors, and Go has %d", -last, len(kindsFromC))
	}
	for code := last; code <= -1; code++ {
		err := errorFromC(code)
		var of *Error
		if err == nil || errors.As(err, &of) {
			t.Errorf("%d: %v", code, err)
		} else if err.Error() != "timebase: "+textFromC(code) {
			t.Errorf("%d: %q, and in C %q", code, err, textFromC(code))
		}
	}
	if errorFromC(0) != nil || errorFromC(-1000) == nil {
		t.Error("0 is no error, and -1000 one")
	}
}

func TestWaiter(t *testing.T) {
	w, err := NewWaiter()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for name, wait := range map[string]func() (WaitResult, error){
		"mono":  func() (WaitResult, error) { return w.UntilMono(private().Mono()+200*time.Microsecond, WaitNeverEarly) },
		"utc":   func() (WaitResult, error) { return w.UntilUTC(private().UTC()+200_000, WaitNeverEarly) },
		"ticks": func() (WaitResult, error) { return w.UntilTicks(Ticks()+200_000, WaitNeverEarly) },
		"delay": func() (WaitResult, error) { return w.Delay(time.Microsecond, 0) },
	} {
		r, err := wait()
		if err != nil || name != "delay" && (r.ErrorNS < -r.ErrorBoundNS-1000 || r.Target == 0) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if err := w.Calibrate(); err != nil {
		t.Error(err)
	}
	w.Close()
	w.Close()
	if _, err := w.Delay(time.Microsecond, 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("closed, a delay gives %v", err)
	}
	if _, err := w.UntilTicks(Ticks(), 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("closed, a wait gives %v", err)
	}
	if err := w.Calibrate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("closed, it is calibrated: %v", err)
	}
}

func TestTimelineVectors(t *testing.T) {
	var content struct {
		Vectors []struct {
			Name     string
			Segments []struct{ Name, Hex string }
			Reads    []struct {
				Boot        *string `json:"boot"`
				Error       string  `json:"error"`
				Ticks       uint64  `json:"ticks,string"`
				Mono        int64   `json:"mono_ns,string"`
				UTC         int64   `json:"utc_ns,string"`
				MaxError    int64   `json:"maxerror_ns,string"`
				UTCMaxError int64   `json:"utc_maxerror_ns,string"`
				Flags       uint32  `json:"flags"`
			}
		}
	}
	text, err := os.ReadFile("../../spec/vectors/timeline.json")
	if err == nil {
		err = json.Unmarshal(text, &content)
	}
	if err != nil || len(content.Vectors) == 0 {
		t.Fatal(err)
	}
	for _, v := range content.Vectors {
		folder := t.TempDir()
		for _, s := range v.Segments {
			b, _ := hex.DecodeString(s.Hex)
			os.WriteFile(filepath.Join(folder, s.Name), b, 0o644)
		}
		timeline, err := OpenTimeline(folder)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		for _, r := range v.Reads {
			var boot *BootID
			if r.Boot != nil {
				boot = new(BootID)
				hex.Decode(boot[:], []byte(*r.Boot))
			}
			at, err := timeline.At(boot, r.Ticks)
			_, errs := timeline.AtMany(boot, []uint64{r.Ticks})
			want := errorByName(r.Error)
			if !errors.Is(err, want) || !errors.Is(errs[0], want) {
				t.Errorf("%s: tick %d: %v and %v, not %v", v.Name, r.Ticks, err, errs[0], want)
			} else if err == nil && at != (Instant{Ticks: r.Ticks, UTC: r.UTC, Mono: time.Duration(r.Mono),
				MaxError: time.Duration(r.MaxError), UTCMaxError: time.Duration(r.UTCMaxError),
				EstError: at.EstError, Flags: Flags(r.Flags)}) {
				t.Errorf("%s: tick %d: %+v, not %+v", v.Name, r.Ticks, at, r)
			}
		}
		boots, err := timeline.Boots()
		if len(boots) == 0 || err != nil {
			t.Errorf("%s: no boots: %v", v.Name, err)
		}
		_, of := timeline.Gaps()
		_, err = timeline.Damages()
		if of != nil || err != nil {
			t.Errorf("%s: gaps: %v, damages: %v", v.Name, of, err)
		}
		if _, err := OpenTimeline(folder + "\x00/more"); !errors.Is(err, ErrInvalid) {
			t.Errorf("a null byte in the name: %v", err)
		}
		timeline.Close()
		timeline.SetDrawingOn(true) // closed: it has no effect
		if boots, err := timeline.Boots(); len(boots) != 0 || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: closed: %v", v.Name, err)
		}
	}
	if _, err := OpenTimeline("/nowhere"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "/nowhere") {
		t.Error(err)
	}
}

func errorByName(name string) error {
	switch name {
	case "TIMEBASE_E_TOO_EARLY":
		return ErrTooEarly
	case "TIMEBASE_E_TOO_LATE":
		return ErrTooLate
	case "TIMEBASE_E_GAP":
		return ErrGap
	case "TIMEBASE_E_AMBIGUOUS":
		return ErrAmbiguous
	case "TIMEBASE_E_NO_BOOT":
		return ErrNoBoot
	}
	return nil
}

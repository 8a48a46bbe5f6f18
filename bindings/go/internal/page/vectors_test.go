// SPDX-License-Identifier: MIT

package page

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
)

const vectorFolder = "../../../../spec/vectors"

type vectorRead struct {
	Ticks       uint64 `json:"ticks,string"`
	Line        string `json:"line"`
	Backwards   bool   `json:"backwards"`
	IsCurrent   bool   `json:"is_current"`
	Mono        int64  `json:"mono_ns,string"`
	UTC         int64  `json:"utc_ns,string"`
	TAI         int64  `json:"tai_ns,string"`
	MaxError    uint64 `json:"maxerror_ns,string"`
	UTCMaxError uint64 `json:"utc_maxerror_ns,string"`
	EstError    uint64 `json:"esterror_ns,string"`
	Flags       uint32 `json:"flags"`
}

type vector struct {
	Name    string       `json:"name"`
	Endian  string       `json:"endian"`
	PageHex string       `json:"page_hex"`
	Valid   any          `json:"valid"` // 0, or the name of an error
	Reads   []vectorRead `json:"reads"`
	Inverse []struct {
		Mono  *int64 `json:"mono_ns,string"`
		UTC   *int64 `json:"utc_ns,string"`
		Ticks uint64 `json:"ticks,string"`
	} `json:"inverse"`
}

var kinds = map[any]fault.Kind{
	0.0:                      "",
	"TIMEBASE_E_FORMAT":      fault.Format,
	"TIMEBASE_E_UNSUPPORTED": fault.Unsupported,
	"TIMEBASE_E_STALE":       fault.Stale,
}

var orders = map[string]binary.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}

func vectorFiles(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join(vectorFolder, "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%s has %d files: %v", vectorFolder, len(files), err)
	}
	return files
}

func readVectors(t *testing.T, file string) []vector {
	var content struct{ Vectors []vector }
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &content)
	}
	if err != nil || len(content.Vectors) == 0 {
		t.Fatalf("%s: %d vectors, %v", file, len(content.Vectors), err)
	}
	return content.Vectors
}

// Each machine reads the vectors of both byte orders. Those of its own it would read in place.
func TestVectors(t *testing.T) {
	for _, file := range vectorFiles(t) {
		name := filepath.Base(file)
		if name == "timeline.json" { // the C library reads timelines: timeline_cgo_test.go
			continue
		}
		for _, v := range readVectors(t, file) {
			t.Run(name+"/"+v.Endian+"/"+v.Name, v.run)
		}
	}
}

func (v vector) run(t *testing.T) {
	bytes, err := hex.DecodeString(v.PageHex)
	if err != nil {
		t.Fatal(err)
	}
	kind, known := kinds[v.Valid]
	if !known {
		t.Fatalf("no such error: %v", v.Valid)
	}
	p, err := FromBytes(bytes, orders[v.Endian])
	if err == nil {
		err = p.Validate()
	}
	if kind != "" {
		if fault.Of(err) != kind || err == nil {
			t.Fatalf("%v, where %v was to come", err, v.Valid)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	v.readAll(t, p)
	v.invertAll(t, p)
}

func (v vector) readAll(t *testing.T, p *Page) {
	lines, seq, _ := p.Lines()
	for _, want := range v.Reads {
		got, ok := p.At(want.Ticks)
		should := line.Instant{Ticks: want.Ticks, Mono: want.Mono, UTC: want.UTC, MaxError: want.MaxError,
			UTCMaxError: want.UTCMaxError, EstError: want.EstError, Flags: want.Flags}
		if !ok || got != should {
			t.Errorf("tick %d: %+v, not %+v", want.Ticks, got, should)
		}
		if tai := line.TAI(got.UTC, got.Flags); tai != want.TAI {
			t.Errorf("tick %d: TAI %d, not %d", want.Ticks, tai, want.TAI)
		}
		_, which := lines.For(want.Ticks)
		if name := [...]string{"before", "slew", "after"}[which]; name != want.Line {
			t.Errorf("tick %d: on %s, not %s", want.Ticks, name, want.Line)
		}
		if _, _, ok := p.copies[seq&1].now(want.Ticks, p.Refresh()); ok != want.IsCurrent {
			t.Errorf("tick %d: current: %v", want.Ticks, ok)
		}
	}
}

func (v vector) invertAll(t *testing.T, p *Page) {
	lines, _, _ := p.Lines()
	for _, want := range v.Inverse {
		target, isUTC := want.Mono, false
		if want.UTC != nil {
			target, isUTC = want.UTC, true
		}
		if ticks := lines.FirstTick(*target, isUTC); ticks != want.Ticks {
			t.Errorf("%d (UTC: %v): tick %d, not %d", *target, isUTC, ticks, want.Ticks)
		}
	}
}

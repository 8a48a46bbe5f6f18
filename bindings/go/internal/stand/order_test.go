// SPDX-License-Identifier: MIT

//go:build linux

package stand

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The order of loads, fences and the counter in what was compiled, for each processor, in the words of
// GNU's objdump: the patterns come one after the other in the function's disassembly, and those after
// "not" nowhere in it.
var orders = []struct {
	arch, function string
	patterns       []string
}{
	// (A) and (C) need no instruction on x86. RDTSCP waits for earlier loads.
	{"amd64", "page.Read", []string{`mov \(%rdi\),%r8`, `rdtscp`, `sub \(%rsi\),%rax`, `cmp 0x8\(%rdi\),%rax`,
		`mulq? 0x18\(%rsi\)`, `mov 0x10\(%rsi\)`, `cmp \(%rdi\),%r8`, `ret`}},
	{"amd64", "page.ReadUnordered", []string{`mov \(%rdi\),%r8`, `rdtsc$`, `mul`, `cmp \(%rdi\),%r8`, "not", `rdtscp|fence`}},
	{"amd64", "counter.ticks", []string{`rdtsc$`, "not", `rdtscp|fence`}},
	{"amd64", "counter.ordered", []string{`rdtscp`}},
	{"amd64", "counter.begin", []string{`lfence`, `rdtsc$`, `lfence`}},
	{"amd64", "counter.end", []string{`rdtscp`, `lfence`}},
	{"amd64", "page.(*Page).Instant", []string{`mov \(%rax\)`, `call .*counter\.[oO]rdered`, `mul`, `mov \(`, `cmp`}},

	{"arm64", "page.Read", []string{`ldar x1, \[x0\]`, `dsb ishld`, `isb`, `mrs x2, cntvct_el0`, `ldr x4, \[x3\]`,
		`ldr x5, \[x0, #8\]`, `umulh`, `ldr x9, \[x3, #16\]`, `dmb ishld`, `ldr x10, \[x0\]`, `cmp x10, x1`}},
	{"arm64", "page.ReadUnordered", []string{`ldar x1, \[x0\]`, `mrs`, `umulh`, `dmb ishld`, `ldr x10, \[x0\]`, "not", `dsb|isb`}},
	{"arm64", "counter.ticks", []string{`mrs`, "not", `dsb|isb`}},
	{"arm64", "counter.ordered", []string{`dsb ishld`, `isb`, `mrs`}},
	{"arm64", "counter.begin", []string{`dsb ish$`, `isb`, `mrs`, `isb`}},
	{"arm64", "page.(*Page).Instant", []string{`ldar`, `bl .*counter\.[oO]rdered`, `ldar`, `ldar`, `umulh`, `ldar`, `cmp`}},

	{"ppc64le", "page.Read", powerRead},
	{"ppc64", "page.Read", powerRead},
	{"ppc64le", "page.ReadUnordered", []string{`ld r4,0\(r3\)`, `lwsync`, `mftb`, `mulhdu`, `lwsync`, `ld r10,0\(r3\)`, "not", `hwsync`}},
	{"ppc64", "counter.ordered", []string{`hwsync`, `isync`, `mftb r3`, `cmpwi? r3,r?0`}},
	{"ppc64", "counter.begin", []string{`hwsync`, `isync`, `mftb r3`, `cmpwi? r3,r?0`, `isync`}},
	{"ppc64le", "page.(*Page).Instant", []string{`hwsync`, `ld r\d+,0\(r`, `isync`, `bl .*counter\.[oO]rdered`, `hwsync`, `isync`,
		`mulhdu`, `hwsync`, `isync`, `cmp`}},

	{"riscv64", "page.Read", []string{`ld a1,0\(a0\)`, `fence r,rw`, `fence r,i`, `rdtime a2`, `ld a4,256\(a3\)`, `ld a5,8\(a0\)`,
		`mulhu`, `ld a5,272\(a3\)`, `fence r,rw`, `ld a7,0\(a0\)`, `bne a7,a1`}},
	{"riscv64", "page.ReadUnordered", []string{`ld a1,0\(a0\)`, `fence r,rw`, `rdtime`, `mulhu`, `fence r,rw`, `ld a7,0\(a0\)`, "not", `fence r,i`}},
	{"riscv64", "counter.ticks", []string{`rdtime`, "not", `fence`}},
	{"riscv64", "counter.ordered", []string{`fence r,i`, `rdtime`}},
	{"riscv64", "counter.begin", []string{`fence rw,i`, `rdtime`, `fence i,rw`}},
	{"riscv64", "page.(*Page).Instant", []string{`lr\.d\.aq`, `jal .*counter\.[oO]rdered`, `lr\.d\.aq`, `lr\.d\.aq`, `mulhu`, `lr\.d\.aq`}},

	// (A) and (C) need no instruction on z. STCK serialises, STCKF does not; br %r0 is BCR 15,0.
	{"s390x", "page.Read", []string{`lg %r3,0\(%r2\)`, `stck 8`, `lg %r6,256\(%r5\)`, `lg %r6,8\(%r2\)`, `mlgr`, `lg %r9,272\(%r5\)`,
		`lg %r7,0\(%r2\)`, `cgrj %r3,%r7`}},
	{"s390x", "page.ReadUnordered", []string{`lg %r3,0\(%r2\)`, `stckf`, `mlgr`, `lg %r7,0\(%r2\)`, "not", `stck |br %r0`}},
	{"s390x", "counter.ticks", []string{`stckf`}},
	{"s390x", "counter.ordered", []string{`stck `}},
	{"s390x", "counter.begin", []string{`stck `, `br %r0`}},
	{"s390x", "counter.end", []string{`stck `, `br %r0`}},
}

var powerRead = []string{`ld r4,0\(r3\)`, `hwsync`, `isync`, `mftb r5`, `cmpwi? r5,r?0`, `ld r7,0\(r6\)`, `ld r8,8\(r3\)`, `mulhdu`,
	`ld r8,16\(r6\)`, `lwsync`, `ld r10,0\(r3\)`, `cmpd r10,r4`}

// What the assembler's functions order by.
var barrier = regexp.MustCompile(`^([lm]fence|rdtscp|[di][sm]b|ldar|hwsync|lwsync|isync|fence|stck\b|br %r0)`)

var gnuName = map[string]string{
	"amd64": "x86-64", "arm64": "aarch64", "ppc64": "powerpc64", "ppc64le": "powerpc64", "riscv64": "riscv64", "s390x": "s390x",
}

// objdump of binutils knows the instructions of any Go's compiler; `go tool objdump` knows those of
// riscv64 and s390x from 1.23 on.
func objdump(t *testing.T, arch string) string {
	t.Helper()
	name := gnuName[arch] + "-linux-gnu"
	path, err := exec.LookPath(strings.ReplaceAll(name, "x86-64", "x86_64") + "-objdump")
	if err != nil {
		t.Fatalf("%v: apt-get install binutils-%s", err, name)
	}
	return path
}

// build gives the program with all readings, for a processor.
func build(t *testing.T, arch string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), arch)
	command := exec.Command("go", "build", "-o", program, "../readings")
	command.Env = append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build for %s: %v\n%s", arch, err, output)
	}
	return program
}

var (
	address = regexp.MustCompile(`(?m)^ +[0-9a-f]+:\s*`)
	blanks  = regexp.MustCompile(`[ \t]+`)
)

// instructions of a function, one a line. The linker calls the assembler's functions NAME.abi0, but
// where Go passes arguments on the stack anyway.
func instructions(t *testing.T, arch, program, function string) []string {
	t.Helper()
	for _, name := range []string{function + ".abi0", function} {
		symbol := "timebase.example/timebase/internal/" + name
		output, err := exec.Command(objdump(t, arch), "-d", "--no-show-raw-insn", "--disassemble="+symbol, program).Output()
		if err != nil {
			t.Fatal(err)
		}
		if _, body, isThere := strings.Cut(string(output), "<"+symbol+">:\n"); isThere {
			body = blanks.ReplaceAllString(address.ReplaceAllString(body, ""), " ")
			return strings.Split(strings.TrimSpace(body), "\n")
		}
	}
	t.Fatalf("%s: no function %s", arch, function)
	return nil
}

func TestOrderInWhatWasCompiled(t *testing.T) {
	if os.Getenv("TIMEBASE_ORDER") == "" {
		t.Skip("it builds for all processors: run bindings/go/check")
	}
	built := map[string]string{}
	for _, o := range orders {
		if built[o.arch] == "" {
			built[o.arch] = build(t, o.arch)
		}
		t.Run(o.arch+"/"+o.function, func(t *testing.T) {
			text := instructions(t, o.arch, built[o.arch], o.function)
			if wrong := misordered(text, o.patterns); wrong != "" {
				t.Fatalf("%s in\n%s", wrong, strings.Join(text, "\n"))
			}
			if !strings.Contains(o.function, "Page") { // whose barriers are those of sync/atomic
				eachBarrierCounts(t, text, o.patterns)
			}
		})
	}
}

// eachBarrierCounts: without any one of its barriers, the function would be found misordered.
func eachBarrierCounts(t *testing.T, text, patterns []string) {
	t.Helper()
	for i, line := range text {
		if !barrier.MatchString(line) {
			continue
		}
		without := append(append([]string{}, text[:i]...), text[i+1:]...)
		if misordered(without, patterns) == "" {
			t.Errorf("nothing would be found wrong without line %d, %s, in\n%s", i+1, line, strings.Join(text, "\n"))
		}
	}
}

// misordered says what is not as the patterns want it; nothing if all is.
func misordered(text, patterns []string) string {
	at, isUnwanted := 0, false
	for _, pattern := range patterns {
		if pattern == "not" {
			at, isUnwanted = 0, true
			continue
		}
		found := position(text[at:], pattern)
		if isUnwanted && found >= 0 {
			return fmt.Sprintf("there is %q", pattern)
		}
		if !isUnwanted && found < 0 {
			return fmt.Sprintf("no %q, or not in its place,", pattern)
		}
		if !isUnwanted {
			at += found + 1
		}
	}
	return ""
}

func position(text []string, pattern string) int {
	expression := regexp.MustCompile("^(" + pattern + ")")
	for i, line := range text {
		if expression.MatchString(line) {
			return i
		}
	}
	return -1
}

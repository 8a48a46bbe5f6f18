// SPDX-License-Identifier: MIT

//go:build linux

package stand

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The order of loads, fences and the counter in what was compiled, for each processor: the patterns
// come one after the other in the function's disassembly, and those after "not" nowhere in it.
var orders = []struct {
	arch, function string
	patterns       []string
}{
	// (A) and (C) need no instruction on x86. RDTSCP waits for earlier loads.
	{"amd64", "page.Read.abi0", []string{`MOVQ 0\(DI\), R8`, `RDTSCP`, `SUBQ 0\(SI\), AX`, `CMPQ AX, 0x8\(DI\)`,
		`MULQ 0x18\(SI\)`, `MOVQ 0x10\(SI\)`, `CMPQ R8, 0\(DI\)`, `RET`}},
	{"amd64", "page.ReadUnordered.abi0", []string{`MOVQ 0\(DI\), R8`, `RDTSC\b`, `MULQ`, `CMPQ R8, 0\(DI\)`, "not", `RDTSCP|FENCE`}},
	{"amd64", "counter.ticks.abi0", []string{`RDTSC\b`, "not", `RDTSCP|FENCE`}},
	{"amd64", "counter.ordered.abi0", []string{`RDTSCP`}},
	{"amd64", "counter.begin.abi0", []string{`LFENCE`, `RDTSC\b`, `LFENCE`}},
	{"amd64", "counter.end.abi0", []string{`RDTSCP`, `LFENCE`}},
	{"amd64", "page.(*Page).Instant", []string{`MOVQ 0\(AX\)`, `CALL .*counter.[oO]rdered`, `MULQ`, `MOVQ 0\(`, `CMPQ`}},

	{"arm64", "page.Read.abi0", []string{`LDAR \(R0\), R1`, `DSB \$9`, `ISB`, `MRS`, `MOVD \(R3\), R4`, `MOVD 8\(R0\)`,
		`UMULH`, `MOVD 16\(R3\)`, `DMB \$9`, `MOVD \(R0\), R10`, `CMP R1, R10`}},
	{"arm64", "page.ReadUnordered.abi0", []string{`LDAR \(R0\), R1`, `MRS`, `UMULH`, `DMB \$9`, `MOVD \(R0\), R10`, "not", `DSB|ISB`}},
	{"arm64", "counter.ticks.abi0", []string{`MRS`, "not", `DSB|ISB`}},
	{"arm64", "counter.ordered.abi0", []string{`DSB \$9`, `ISB`, `MRS`}},
	{"arm64", "counter.begin.abi0", []string{`DSB \$11`, `ISB`, `MRS`, `ISB`}},
	{"arm64", "page.(*Page).Instant", []string{`LDAR`, `CALL .*counter.[oO]rdered`, `LDAR`, `LDAR`, `UMULH`, `LDAR`, `CMP`}},

	{"ppc64le", "page.Read.abi0", powerRead},
	{"ppc64", "page.Read.abi0", powerRead},
	{"ppc64le", "page.ReadUnordered.abi0", []string{`MOVD 0\(R3\),R4`, `LWSYNC`, `SPR\(268\)`, `MULHDU`, `LWSYNC`, `MOVD 0\(R3\),R10`, "not", `HWSYNC`}},
	{"ppc64", "counter.ordered.abi0", []string{`HWSYNC`, `ISYNC`, `SPR\(268\)`, `CMPW R3,\$0`}},
	{"ppc64", "counter.begin.abi0", []string{`HWSYNC`, `ISYNC`, `SPR\(268\)`, `CMPW R3,\$0`, `ISYNC`}},
	{"ppc64le", "page.(*Page).Instant", []string{`HWSYNC`, `MOVD 0\(R`, `ISYNC`, `CALL .*counter.[oO]rdered`, `HWSYNC`, `ISYNC`, `MULHDU`, `HWSYNC`, `ISYNC`, `CMP`}},

	// FENCE is written as encoded: 0230000f is r, rw; 0280000f r, i; 0380000f rw, i; 0830000f i, rw.
	{"riscv64", "page.Read.abi0", []string{`MOV \(X10\), X11`, `0230000f`, `0280000f`, `RDTIME`, `MOV 256\(X13\)`, `MOV 8\(X10\)`,
		`MULHU`, `MOV 272\(X13\)`, `0230000f`, `MOV \(X10\), X17`, `BNE`}},
	{"riscv64", "page.ReadUnordered.abi0", []string{`MOV \(X10\), X11`, `0230000f`, `RDTIME`, `MULHU`, `0230000f`, `MOV \(X10\), X17`, "not", `0280000f`}},
	{"riscv64", "counter.ticks.abi0", []string{`RDTIME`, "not", `FENCE`}},
	{"riscv64", "counter.ordered.abi0", []string{`0280000f`, `RDTIME`}},
	{"riscv64", "counter.begin.abi0", []string{`0380000f`, `RDTIME`, `0830000f`}},
	{"riscv64", "page.(*Page).Instant", []string{`LRD`, `CALL .*counter.[oO]rdered`, `LRD`, `LRD`, `MULHU`, `LRD`}},

	// (A) and (C) need no instruction on z. b205 is STCK, which serialises; b27c STCKF; 07f0 BCR 15,0.
	{"s390x", "page.Read.abi0", []string{`MOVD \(R2\), R3`, `b205`, `MOVD 256\(R5\)`, `MOVD 8\(R2\)`, `MLGR`, `MOVD 272\(R5\)`,
		`MOVD \(R2\), R7`, `CGRJ R3, R7`}},
	{"s390x", "page.ReadUnordered.abi0", []string{`MOVD \(R2\), R3`, `b27c`, `MLGR`, `MOVD \(R2\), R7`, "not", `b205`}},
	{"s390x", "counter.ticks.abi0", []string{`b27c`}},
	{"s390x", "counter.ordered.abi0", []string{`b205`}},
	{"s390x", "counter.begin.abi0", []string{`b205`, `07f0`}},
	{"s390x", "counter.end.abi0", []string{`b205`, `07f0`}},
}

var powerRead = []string{`MOVD 0\(R3\),R4`, `HWSYNC`, `ISYNC`, `SPR\(268\)`, `CMPW R5,\$0`, `MOVD 0\(R6\)`, `MOVD 8\(R3\)`, `MULHDU`,
	`MOVD 16\(R6\)`, `LWSYNC`, `MOVD 0\(R3\),R10`, `CMP R10,R4`}

// goTool runs the go command for a processor, without what this test was built with.
func goTool(t *testing.T, arch string, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", arguments...)
	command.Env = append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go %v: %v", arguments, err)
	}
	return string(output)
}

// Before, it disassembles neither riscv64 nor s390x, and prints other names for some instructions.
func objdumpIsTooOld() bool {
	var minor int
	_, err := fmt.Sscanf(runtime.Version(), "go1.%d", &minor)
	return err == nil && minor < 23
}

func TestOrderInWhatWasCompiled(t *testing.T) {
	if os.Getenv("TIMEBASE_ORDER") == "" {
		t.Skip("it builds for all processors: run bindings/go/check")
	}
	if objdumpIsTooOld() {
		t.Skipf("go tool objdump of %s knows too few instructions: take Go 1.23 or later", runtime.Version())
	}
	built := map[string]string{}
	for _, o := range orders {
		program := built[o.arch]
		if program == "" {
			program = filepath.Join(t.TempDir(), o.arch)
			goTool(t, o.arch, "test", "-c", "-o", program, "../..")
			built[o.arch] = program
		}
		t.Run(o.arch+"/"+o.function, func(t *testing.T) {
			text := goTool(t, "", "tool", "objdump", "-s", "internal/"+regexp.QuoteMeta(o.function)+"$", program)
			inOrder(t, text, o.patterns)
		})
	}
}

func inOrder(t *testing.T, text string, patterns []string) {
	if strings.Count(text, "TEXT ") != 1 {
		t.Fatalf("%d functions of that name", strings.Count(text, "TEXT "))
	}
	rest, unwanted := text, false
	for _, pattern := range patterns {
		if pattern == "not" {
			rest, unwanted = text, true
			continue
		}
		at := regexp.MustCompile(pattern).FindStringIndex(rest)
		if unwanted {
			if at != nil {
				t.Errorf("there is %q in\n%s", pattern, text)
			}
			continue
		}
		if at == nil {
			t.Fatalf("no %q there, or not in its place, in\n%s", pattern, text)
		}
		rest = rest[at[1]:]
	}
}

// SPDX-License-Identifier: MIT

//go:build linux

package stand

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	block = regexp.MustCompile("(?s)```(go|sh)\n(.*?)```")
	named = regexp.MustCompile("`([a-z]+/[a-z_]+\\.go)`:\n\n$")
)

// docs/guide/go.md as a newcomer has it: its files are written, its commands are run, in their order.
func TestTheGuide(t *testing.T) {
	daemon := os.Getenv("TIMEBASE_DAEMON")
	if daemon == "" {
		t.Skip("it starts a daemon: run bindings/go/check")
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/guide/go.md"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	os.Chmod(folder, 0o755)
	blocks := block.FindAllSubmatchIndex(text, -1)
	if len(blocks) < 6 {
		t.Fatalf("the guide has %d blocks", len(blocks))
	}
	said := ""
	for _, at := range blocks {
		content := string(text[at[4]:at[5]])
		if string(text[at[2]:at[3]]) == "go" {
			write(t, folder, named.FindStringSubmatch(string(text[:at[0]])), content)
			continue
		}
		command := exec.Command("bash", "-euc", content)
		command.Dir = folder
		command.Env = append(os.Environ(), "TIMEBASE="+root, "GOFLAGS=", "PATH="+daemon+":"+os.Getenv("PATH"))
		output, err := command.CombinedOutput()
		if said += string(output); err != nil {
			t.Fatalf("%s\n%s\n%v", content, output, err)
		}
	}
	for _, words := range []string{"true UTC is in 2", "by ", "current\n", "ns/median", "ns/p99"} {
		if !strings.Contains(said, words) {
			t.Errorf("%q was not said in\n%s", words, said)
		}
	}
	t.Log(said)
}

func write(t *testing.T, folder string, name []string, content string) {
	if name == nil {
		t.Fatalf("a file without a name:\n%s", content)
	}
	path := filepath.Join(folder, name[1])
	os.MkdirAll(filepath.Dir(path), 0o755)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	formatted, err := exec.Command("gofmt", "-l", path).CombinedOutput()
	if err != nil || len(formatted) > 0 {
		t.Errorf("%s is not as gofmt has it: %s %v", name[1], formatted, err)
	}
}

package codextest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/codexctl/codexctl/codex"
)

const peerVariable = "CODEXTEST_PEER"

// PeerProcess is a [Peer] with a process of its own: the test binary, executed again. The package that uses it calls
// [PeerMain] first in its TestMain.
type PeerProcess struct{ dir string }

// NewPeerProcess keeps the rules, and later what was received, in files in dir, which must exist.
func NewPeerProcess(dir string, rules ...*Rule) (*PeerProcess, error) {
	script, err := json.Marshal(rules)
	if err != nil {
		return nil, err
	}
	return &PeerProcess{dir: dir}, os.WriteFile(filepath.Join(dir, "rules.json"), script, 0o600)
}

// Options makes [codex.Start] run the peer: it passes the version guard as Codex 0.160.1.
func (p *PeerProcess) Options() (codex.Options, error) {
	path, err := os.Executable()
	return codex.Options{Path: path, Env: append(os.Environ(), peerVariable+"="+p.dir)}, err
}

// Messages returns what the peer has received so far, also after its death.
func (p *PeerProcess) Messages() ([]PeerMessage, error) {
	f, err := os.Open(filepath.Join(p.dir, "received.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []PeerMessage
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 512<<20)
	for lines.Scan() {
		var m PeerMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return all, err
		}
		all = append(all, m)
	}
	return all, lines.Err()
}

// PeerMain plays the peer and exits if this process was started as one. Otherwise it returns.
func PeerMain() {
	if len(os.Args) > 1 && os.Args[1] == "--version" { // codex.Start asks, in the environment of the test
		fmt.Println("codex-cli 0.160.1")
		os.Exit(0)
	}
	dir := os.Getenv(peerVariable)
	if dir == "" {
		if os.Getenv("GORACE") == "" { // a peer built with the race detector would sleep for a second when it ends
			_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
		}
		return
	}
	if err := playProcess(dir); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func playProcess(dir string) error {
	script, err := os.ReadFile(filepath.Join(dir, "rules.json"))
	if err != nil {
		return err
	}
	var rules []*Rule
	if err := json.Unmarshal(script, &rules); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, "received.jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	p := newPlay(rules, peerStreams{in: os.Stdin, out: os.Stdout, stderr: os.Stderr})
	p.die = func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute) // the signal comes first
	}
	enc := json.NewEncoder(log)
	p.record = func(m PeerMessage) { err = errors.Join(err, enc.Encode(m)) }
	p.run()
	return err
}

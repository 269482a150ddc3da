// Command benchmark measures the client on one machine in one run: how fast it delivers a recorded stream, next to a plain
// sourcegraph/jsonrpc2 connection, to encoding/json and to json.Valid alone; what a round trip, a large line, a slow
// consumer and an idle client cost. scripts/bench runs it.
//
// The stream in testdata was recorded from the real Codex 0.160.1 by the command in record. A second process, this program
// once more, replays it at full speed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

func main() {
	if playServer() {
		return
	}
	if os.Getenv(bigVariable) != "" {
		exitOn(readBig())
		return
	}
	asJSON := flag.Bool("json", false, "print one JSON object")
	rounds := flag.Int("rounds", 25, "how often a replay repeats the stream")
	only := flag.String("only", "", "run one measurement: stream, typed (for a profile), allocs, roundtrip, bigline, slow, idle, workers, status")
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process to the file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		exitOn(err)
		exitOn(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
	}
	r := &report{Machine: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpu()), Go: runtime.Version()}
	exitOn(r.measure(*rounds, *only))
	if *asJSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		_ = enc.Encode(r)
		return
	}
	r.print(os.Stdout)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func (r *report) measure(rounds int, only string) error {
	s, err := loadStream()
	if err != nil {
		return err
	}
	r.census(s)
	for _, m := range []struct {
		name string
		run  func() error
	}{
		{"stream", func() error { return r.throughput(s, rounds) }},
		{"typed", func() error { return r.typedOnly(s, rounds) }},
		{"allocs", func() error { return r.allocations(s, rounds) }},
		{"roundtrip", r.roundTrips},
		{"bigline", r.bigLine},
		{"slow", func() error { return r.slowConsumer(s) }},
		{"idle", r.idle},
		{"workers", r.workers},
		{"status", r.status},
	} {
		if only == m.name || only == "" && m.name != "typed" {
			if err := m.run(); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return nil
}

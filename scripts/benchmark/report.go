package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// report holds all figures. Times are medians of the run.
type report struct {
	Machine string `json:"machine"`
	Go      string `json:"go"`

	Messages        int     `json:"messages"`          // of the recorded stream
	BytesPerMessage float64 `json:"bytes_per_message"` // line end included
	DeltaShare      float64 `json:"delta_share"`

	TypedNs          float64 `json:"typed_ns"` // a message, as are the next three
	JSONRPC2Ns       float64 `json:"jsonrpc2_ns"`
	StdlibNs         float64 `json:"stdlib_ns"`
	ValidNs          float64 `json:"json_valid_ns"`
	TypedVsJSONRPC2  float64 `json:"typed_vs_jsonrpc2"`   // times faster
	TypedVsStdlib    float64 `json:"typed_vs_stdlib"`     // times faster
	TypedVsJSONValid float64 `json:"typed_vs_json_valid"` // times the time

	AllocsPerDelta float64 `json:"allocs_per_delta"`
	BytesPerDelta  float64 `json:"bytes_per_delta"`

	RoundTrips          []roundTrip `json:"round_trips"`
	RoundTripOverheadUs float64     `json:"roundtrip_overhead_us"` // at window 1

	BigLineRatio float64 `json:"bigline_ratio"` // peak memory to line
	BigLineMs    int64   `json:"bigline_ms"`

	SlowConsumerP99Ms float64 `json:"slow_consumer_p99_ms"`
	SlowLagged        int     `json:"slow_consumer_lagged"`  // events that the sleeper was told it lost
	SlowControl       int     `json:"slow_consumer_control"` // control events that it got, which is all
	SlowHeapMB        float64 `json:"slow_consumer_heap_mb"`

	IdleKB         float64 `json:"idle_kb"`
	IdleGoroutines float64 `json:"idle_goroutines"`

	ReplaceOverheadUs1    float64 `json:"replace_overhead_us_1"` // over the two lines alone, without the journal
	ReplaceOverheadUs1000 float64 `json:"replace_overhead_us_1000"`
	JournalAppendUs       float64 `json:"journal_append_us"`
	WorkerKB              float64 `json:"worker_kb"`
	WorkerGoroutines      float64 `json:"worker_goroutines"`

	StatusMs float64 `json:"status_ms"` // codexctl status --json beside a live owner, the whole process

	methods map[string]int
}

type roundTrip struct {
	Window   int     `json:"window"`
	ClientUs float64 `json:"client_us"`
	PipeUs   float64 `json:"pipe_us"`
}

func (r *report) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	defer w.Flush()
	row := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	row("machine\t%s, %s", r.Machine, r.Go)
	row("stream\t%d messages of %.0f B on average, %.1f %% agent message deltas", r.Messages, r.BytesPerMessage, 100*r.DeltaShare)
	for _, m := range slices.SortedFunc(maps.Keys(r.methods), func(a, b string) int { return cmp.Compare(r.methods[b], r.methods[a]) }) {
		row("  %s\t%d", m, r.methods[m])
	}
	row("\t")
	row("a message\tns\tmsg/s\tour time to this")
	for _, l := range []struct {
		name string
		ns   float64
	}{
		{"this client, typed and delivered", r.TypedNs}, {"json.Valid alone, in memory", r.ValidNs},
		{"encoding/json, envelope and typed params", r.StdlibNs}, {"plain sourcegraph/jsonrpc2, typed params", r.JSONRPC2Ns},
	} {
		if l.ns > 0 {
			row("  %s\t%.0f\t%.0f\t%.2f", l.name, l.ns, 1e9/l.ns, r.TypedNs/l.ns)
		}
	}
	row("\t")
	row("allocations a delta\t%.2f (%.0f B)", r.AllocsPerDelta, r.BytesPerDelta)
	for _, t := range r.RoundTrips {
		row("round trip, window %d\t%.1f µs, raw pipe %.1f µs", t.Window, t.ClientUs, t.PipeUs)
	}
	row("round trip overhead\t%.1f µs", r.RoundTripOverheadUs)
	row("64 MiB line\tpeak memory %.2f times the line, %d ms", r.BigLineRatio, r.BigLineMs)
	row("beside a slow consumer\tp99 delivery %.3f ms; the sleeper lost %d events, none of its %d control events; heap +%.1f MB",
		r.SlowConsumerP99Ms, r.SlowLagged, r.SlowControl, r.SlowHeapMB)
	row("idle client\t%.0f kB, %.1f goroutines", r.IdleKB, r.IdleGoroutines)
	row("live goal replacement\t%.1f µs over a raw pipe; %.1f µs with 1,000 workers", r.ReplaceOverheadUs1, r.ReplaceOverheadUs1000)
	row("journal append and sync\t%.0f µs", r.JournalAppendUs)
	row("worker with a goal\t%.0f kB, %.1f goroutines", r.WorkerKB, r.WorkerGoroutines)
	row("codexctl status beside a live owner\t%.1f ms", r.StatusMs)
}

// cpu is the name of the processor where the system tells.
func cpu() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

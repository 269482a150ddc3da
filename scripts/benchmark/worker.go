package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/worker"
)

// workers measures what a live goal replacement costs over the bare exchange of
// two lines with the same peer, and what a worker costs that waits. The journal is
// left out: it is kept in memory for this, and what its two records still take is
// measured by itself and subtracted. On disk it has a figure of its own.
func (r *report) workers() error {
	record, err := journalAppend(inMemory())
	if err != nil {
		return err
	}
	for _, m := range []struct {
		workers, count int
		overhead       *float64
	}{{1, 3000, &r.ReplaceOverheadUs1}, {1000, 5000, &r.ReplaceOverheadUs1000}} {
		raw, err := rawReplacements(m.workers, m.count)
		if err != nil {
			return err
		}
		var cost footprintOf
		ours, err := crowd(m.workers, m.count, &cost)
		if err != nil {
			return err
		}
		*m.overhead = us(median(ours)) - us(median(raw)) - 2*record
		r.WorkerKB, r.WorkerGoroutines = cost.kb, cost.goroutines
	}
	r.JournalAppendUs, err = journalAppend("")
	return err
}

type footprintOf struct{ kb, goroutines float64 }

// crowd runs a goal on n workers and replaces it on one after the other, count
// times in all.
func crowd(n, count int, cost *footprintOf) ([]time.Duration, error) {
	state, err := os.MkdirTemp(inMemory(), "codexctl-benchmark")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(state)
	m, err := worker.NewManager(worker.Options{
		StateDir: filepath.Join(state, "state"),
		Codex:    codex.Options{Env: []string{"CODEX_HOME=/replay"}, Dial: func(context.Context) (codex.Transport, error) { return newGoalPeer() }},
	})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	defer m.Close(ctx)
	before, goroutines := footprint()
	workers := make([]*worker.Worker, n)
	for i := range workers {
		if workers[i], err = m.Worker(ctx, worker.Key{Session: fmt.Sprint(i), Dir: state}); err != nil {
			return nil, err
		}
		if _, err := workers[i].SetGoal(ctx, worker.GoalSpec{Objective: "the first"}); err != nil {
			return nil, err
		}
	}
	after, all := footprint()
	cost.kb = float64(after-before) / float64(n) / 1024
	cost.goroutines = float64(all-goroutines)/float64(n) - 1 // the peer's own
	took := make([]time.Duration, count)
	for i := range took {
		began := time.Now()
		if _, err := workers[i%n].SetGoal(ctx, worker.GoalSpec{Objective: fmt.Sprint("objective ", i)}); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
	}
	return took, nil
}

// rawReplacements writes a line and reads the answer, decoding nothing, with n
// peers in turn.
func rawReplacements(n, count int) ([]time.Duration, error) {
	peers := make([]*goalPeer, n)
	readers := make([]*bufio.Reader, n)
	for i := range peers {
		var err error
		if peers[i], err = newGoalPeer(); err != nil {
			return nil, err
		}
		defer peers[i].Kill()
		readers[i] = bufio.NewReader(peers[i])
	}
	took := make([]time.Duration, count)
	for i := range took {
		p, lines := peers[i%n], readers[i%n]
		began := time.Now()
		fmt.Fprintf(p, `{"id":%d,"method":"thread/goal/set","params":{"threadId":"T","objective":"objective %d","status":"active"}}`+"\n", i, i)
		if _, err := lines.ReadSlice('\n'); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
	}
	return took, nil
}

// journalAppend measures one record with its sync, in microseconds, under a
// directory; "" is the one for temporary files.
func journalAppend(under string) (float64, error) {
	dir, err := os.MkdirTemp(under, "codexctl-benchmark")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	log, _, _, err := journal.Open(filepath.Join(dir, "private", "journal"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	record, err := journal.New("intent", map[string]string{"objective": strings.Repeat("x", 200)})
	if err != nil {
		return 0, err
	}
	took := make([]time.Duration, 300)
	for i := range took {
		began := time.Now()
		if err := log.Append(record); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}
	return us(median(took)), nil
}

// inMemory is a directory that no disk is behind, where the system has one.
func inMemory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return ""
}

// goalPeer is the least app-server that keeps a goal, behind the same kind of
// pipes as a real one.
type goalPeer struct {
	in, out     *os.File // the client's ends
	hears, says *os.File // the peer's
	done        chan struct{}
}

func newGoalPeer() (*goalPeer, error) {
	p := &goalPeer{done: make(chan struct{})}
	var err error
	if p.hears, p.in, err = os.Pipe(); err != nil {
		return nil, err
	}
	if p.out, p.says, err = os.Pipe(); err != nil {
		return nil, err
	}
	go p.serve()
	return p, nil
}

func (p *goalPeer) serve() {
	defer close(p.done)
	defer p.says.Close()
	in := bufio.NewReaderSize(p.hears, 1<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Objective, Status string }
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"userAgent":"codexctl/0.160.1 (Replay)","codexHome":"/replay","platformFamily":"unix","platformOs":"linux"}`
		case "thread/start":
			result = fmt.Sprintf(`{"thread":{"id":"T%p"}}`, p)
		case "thread/goal/get":
			result = `{"goal":null}`
		case "thread/goal/set":
			result = fmt.Sprintf(`{"goal":{"threadId":"T%p","objective":%q,"status":%q,"tokensUsed":0,"timeUsedSeconds":0,"createdAt":1,"updatedAt":1}}`,
				p, m.Params.Objective, m.Params.Status)
		}
		fmt.Fprintf(p.says, "{\"id\":%s,\"result\":%s}\n", m.ID, result)
	}
}

func (p *goalPeer) Read(b []byte) (int, error)         { return p.out.Read(b) }
func (p *goalPeer) Write(b []byte) (int, error)        { return p.in.Write(b) }
func (p *goalPeer) SetWriteDeadline(t time.Time) error { return p.in.SetWriteDeadline(t) }
func (p *goalPeer) CloseWrite() error                  { return p.in.Close() }
func (p *goalPeer) CloseRead() error                   { return p.out.Close() }
func (p *goalPeer) Terminate() error                   { return p.Kill() }
func (p *goalPeer) Kill() error                        { _ = p.in.Close(); return p.hears.Close() }
func (p *goalPeer) Done() <-chan struct{}              { return p.done }
func (p *goalPeer) Err() error                         { return nil }
func (p *goalPeer) Process() codex.ProcessID           { return codex.ProcessID{} }

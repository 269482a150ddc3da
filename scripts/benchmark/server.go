package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/codexctl/codexctl/codex"
)

// The second process is told what to be by its environment.
const (
	playVariable = "BENCHMARK_PLAY" // all or deltas
	playRounds   = "BENCHMARK_ROUNDS"
	playRate     = "BENCHMARK_RATE" // messages a second, 0 for as fast as the pipe takes them
)

// trigger starts the replay; it is answered when the last message is out.
const (
	trigger = "thread/loaded/list"
	bigRead = "thread/read"
)

// bigLine is the size of the text in the result of thread/read.
const bigLine = 64 << 20

func serverOptions(play string, rounds, rate int) (codex.Options, error) {
	path, err := os.Executable()
	return codex.Options{Path: path, Env: serverEnv(play, rounds, rate)}, err
}

func serverEnv(play string, rounds, rate int) []string {
	return append(os.Environ(), playVariable+"="+play, fmt.Sprintf("%s=%d", playRounds, rounds), fmt.Sprintf("%s=%d", playRate, rate))
}

// playServer is the second process; it is false in the first one.
func playServer() bool {
	if len(os.Args) > 1 && os.Args[1] == "--version" { // the client asks first
		fmt.Println("codex-cli 0.160.1")
		return true
	}
	play := os.Getenv(playVariable)
	if play == "" {
		return false
	}
	var rounds, rate int
	_, _ = fmt.Sscan(os.Getenv(playRounds), &rounds)
	_, _ = fmt.Sscan(os.Getenv(playRate), &rate)
	if err := serve(play, rounds, rate); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func serve(play string, rounds, rate int) error {
	var r replay
	if play != "none" {
		s, err := loadStream()
		if err != nil {
			return err
		}
		if r = s.all; play == "deltas" {
			r = s.deltas
		}
	}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"userAgent":"codexctl/0.160.1 (Replay)","codexHome":"/","platformFamily":"unix","platformOs":"linux"}`
		case trigger:
			if err := r.write(rounds, rate); err != nil {
				return err
			}
			result = `{"data":[],"nextCursor":null}`
		case bigRead:
			if err := writeBig(m.ID); err != nil {
				return err
			}
			continue
		}
		if m.ID != nil {
			if _, err := fmt.Fprintf(os.Stdout, "{\"id\":%s,\"result\":%s}\n", m.ID, result); err != nil {
				return err
			}
		}
	}
}

func (r *replay) write(rounds, rate int) error {
	if rate == 0 {
		for range rounds {
			if _, err := os.Stdout.Write(r.bytes); err != nil {
				return err
			}
		}
		return nil
	}
	// In steps of a few milliseconds, as a model's deltas come in small bursts.
	const step = 2 * time.Millisecond
	burst := max(1, rate*int(step)/int(time.Second))
	tick := time.NewTicker(step)
	defer tick.Stop()
	for range rounds {
		for lines := r.lines; len(lines) > 0; <-tick.C {
			n := min(burst, len(lines))
			var out []byte
			for _, line := range lines[:n] {
				out = append(stamp(out, line), '\n')
			}
			if _, err := os.Stdout.Write(out); err != nil {
				return err
			}
			lines = lines[n:]
		}
	}
	return nil
}

// stamp appends the line, with the time in place of a delta's text.
func stamp(out, line []byte) []byte {
	before, after, found := bytes.Cut(line, []byte(`"delta":"`))
	if !found {
		return append(out, line...)
	}
	out = append(append(out, before...), `"delta":"`...)
	out = strconv.AppendInt(out, time.Now().UnixNano(), 10)
	return append(out, after[bytes.IndexByte(after, '"'):]...) // no delta of the stream holds a quote
}

// writeBig answers thread/read with a long history: one turn of many items.
func writeBig(id json.RawMessage) error {
	s, err := loadStream()
	if err != nil {
		return err
	}
	head, tail, err := s.aThread()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	fmt.Fprintf(out, `{"id":%s,"result":{"thread":%s`, id, head)
	text := strings.Repeat("All work and no play makes a long transcript. ", 200)
	for n, written := 0, 0; written < bigLine; n++ {
		if n > 0 {
			out.WriteByte(',')
		}
		k, _ := fmt.Fprintf(out, `{"type":"agentMessage","id":"msg_%d","text":%q,"phase":null,"memoryCitation":null}`, n, text)
		written += k
	}
	fmt.Fprintf(out, "%s}}\n", tail)
	return out.Flush()
}

// aThread is the recorded thread, cut inside the items of a turn.
func (s *stream) aThread() (head, tail []byte, err error) {
	for _, line := range s.all.lines {
		var m struct {
			Method string
			Params struct{ Thread json.RawMessage }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, nil, err
		}
		if m.Method == "thread/started" {
			before, after, found := bytes.Cut(m.Params.Thread, []byte(`"turns":[]`))
			if !found {
				return nil, nil, errors.New("the recorded thread has turns")
			}
			before = append(bytes.Clone(before), `"turns":[{"id":"turn","items":[`...)
			after = append([]byte(`],"itemsView":"full","status":"completed","error":null,"startedAt":null,"completedAt":null,"durationMs":null}]`), after...)
			return before, after, nil
		}
	}
	return nil, nil, errors.New("no thread in the recorded stream")
}

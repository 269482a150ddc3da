package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os/exec"
	"reflect"
	"slices"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/sourcegraph/jsonrpc2"
)

const repeats = 5 // of each measurement; the median counts

// throughput replays the stream to each kind of client in turn.
func (r *report) throughput(s *stream, rounds int) error {
	n := rounds * len(s.all.lines)
	var typed, plain, stdlib, valid []time.Duration
	for range repeats {
		for _, m := range []struct {
			into *[]time.Duration
			run  func() (time.Duration, error)
		}{
			{&typed, func() (time.Duration, error) { return typedDelivery("all", rounds, n) }},
			{&stdlib, func() (time.Duration, error) { return standardLibrary(s, rounds, n) }},
			{&valid, func() (time.Duration, error) { return onlyValid(s, rounds) }},
		} {
			d, err := m.run()
			if err != nil {
				return err
			}
			*m.into = append(*m.into, d)
		}
	}
	few := max(1, rounds/5) // it is slow
	for range repeats {
		d, err := plainJSONRPC2(s, few, few*len(s.all.lines))
		if err != nil {
			return err
		}
		plain = append(plain, d*time.Duration(rounds)/time.Duration(few))
	}
	perMessage := func(d []time.Duration) float64 { return float64(median(d).Nanoseconds()) / float64(n) }
	r.TypedNs, r.JSONRPC2Ns, r.StdlibNs, r.ValidNs = perMessage(typed), perMessage(plain), perMessage(stdlib), perMessage(valid)
	r.TypedVsJSONRPC2 = r.JSONRPC2Ns / r.TypedNs
	r.TypedVsStdlib = r.StdlibNs / r.TypedNs
	r.TypedVsJSONValid = r.TypedNs / r.ValidNs
	return nil
}

// typedOnly is for a profile of the client alone.
func (r *report) typedOnly(s *stream, rounds int) error {
	n := rounds * len(s.all.lines)
	d, err := typedDelivery("all", rounds, n)
	r.TypedNs = float64(d.Nanoseconds()) / float64(n)
	return err
}

func median[T time.Duration | float64](all []T) T {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

// typedDelivery is the client as it is: every message decoded into its type and taken from a subscription.
func typedDelivery(play string, rounds, want int) (time.Duration, error) {
	c, events, err := subscribed(play, rounds, 0)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	began := time.Now()
	err = take(c, events, want)
	return time.Since(began), err
}

func subscribed(play string, rounds, rate int) (*codex.Client, *codex.Subscription, error) {
	o, err := serverOptions(play, rounds, rate)
	if err != nil {
		return nil, nil, err
	}
	c, err := codex.Start(context.Background(), o)
	if err != nil {
		return nil, nil, err
	}
	return c, c.Subscribe(codex.SubscribeOptions{}), nil
}

// take starts the replay and takes its messages.
func take(c *codex.Client, events *codex.Subscription, want int) error {
	codex.Dispatch(c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{}, codex.ReplyTo(events), codex.WithTimeout(10*time.Minute))
	for n := 0; ; n++ {
		e, err := events.Next(context.Background())
		if err != nil {
			return err
		}
		switch {
		case e.Reply != nil:
			if n != want {
				return fmt.Errorf("%d messages of %d were delivered", n, want)
			}
			return e.Reply.Err
		case e.Lagged > 0:
			return fmt.Errorf("the subscription lagged by %d", e.Lagged)
		}
		if _, unknown := e.Notification.(*protocol.UnknownNotification); unknown {
			return fmt.Errorf("%s was not decoded", e.Method)
		}
	}
}

// replaying starts the second process and returns its streams.
func replaying(rounds int) (in io.WriteCloser, out io.ReadCloser, stop func(), err error) {
	o, err := serverOptions("all", rounds, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	cmd := exec.Command(o.Path, "app-server")
	cmd.Env = o.Env
	if in, err = cmd.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		return nil, nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, nil, err
	}
	return in, out, func() { _ = in.Close(); _, _ = io.Copy(io.Discard, out); _ = cmd.Wait() }, nil
}

// settle lets the second process come up: the first answer is not part of the time.
const hello = `{"id":0,"method":"initialize","params":{"clientInfo":{"name":"codexctl","version":"1"}}}` + "\n"

// standardLibrary decodes envelope and params with encoding/json.
func standardLibrary(s *stream, rounds, want int) (time.Duration, error) {
	in, out, stop, err := replaying(rounds)
	if err != nil {
		return 0, err
	}
	defer stop()
	lines := bufio.NewReaderSize(out, 64<<10)
	if _, err := io.WriteString(in, hello); err != nil {
		return 0, err
	}
	if _, err := lines.ReadSlice('\n'); err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := io.WriteString(in, `{"id":1,"method":"`+trigger+`","params":{}}`+"\n"); err != nil {
		return 0, err
	}
	var last any
	for n := 0; ; n++ {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return 0, err
		}
		if m.ID != nil {
			if n != want || last == nil {
				return 0, fmt.Errorf("%d messages of %d", n, want)
			}
			return time.Since(began), nil
		}
		params := reflect.New(s.types[m.Method]).Interface()
		if err := json.Unmarshal(m.Params, params); err != nil {
			return 0, err
		}
		last = params
	}
}

// onlyValid runs json.Valid over the lines in memory: no process, no pipe, nothing kept.
func onlyValid(s *stream, rounds int) (time.Duration, error) {
	began := time.Now()
	for range rounds {
		for _, line := range s.all.lines {
			if !json.Valid(line) {
				return 0, errors.New("the recorded stream is not JSON")
			}
		}
	}
	return time.Since(began), nil
}

// plainJSONRPC2 is a sourcegraph/jsonrpc2 connection as it comes, with a handler that decodes the params.
func plainJSONRPC2(s *stream, rounds, want int) (time.Duration, error) {
	in, out, stop, err := replaying(rounds)
	if err != nil {
		return 0, err
	}
	defer stop()
	var n int
	var failed error
	handler := func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		n++
		if err := json.Unmarshal(*req.Params, reflect.New(s.types[req.Method]).Interface()); err != nil {
			failed = err
		}
		return nil, nil
	}
	conn := jsonrpc2.NewConn(context.Background(), jsonrpc2.NewPlainObjectStream(duplex{out, in}), jsonrpc2.HandlerWithError(handler),
		jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	defer conn.Close()
	var result json.RawMessage
	if err := conn.Call(context.Background(), "initialize", map[string]any{}, &result); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := conn.Call(context.Background(), trigger, map[string]any{}, &result); err != nil {
		return 0, err
	}
	took := time.Since(began)
	if n != want || failed != nil {
		return 0, fmt.Errorf("%d messages of %d: %v", n, want, failed)
	}
	return took, nil
}

type duplex struct {
	io.ReadCloser
	io.Writer
}

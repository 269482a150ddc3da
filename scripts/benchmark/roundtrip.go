package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

const roundTrips = 10_000

// roundTrips compares calls of the client with a client that only writes a line and reads one.
func (r *report) roundTrips() error {
	o, err := serverOptions("none", 0, 0)
	if err != nil {
		return err
	}
	c, err := codex.Start(context.Background(), o)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, window := range []int{1, 16, 64} {
		ours, err := window_(window, func() error {
			_, err := codex.Call(context.Background(), c, protocol.ThreadGoalClearMethod, protocol.ThreadGoalClearParams{ThreadID: "T"})
			if codex.DeliveryOf(err) != codex.Acknowledged {
				return err
			}
			return nil
		})
		if err != nil {
			return err
		}
		raw, err := rawRoundTrips(window)
		if err != nil {
			return err
		}
		r.RoundTrips = append(r.RoundTrips, roundTrip{Window: window, ClientUs: us(median(ours)), PipeUs: us(median(raw))})
	}
	r.RoundTripOverheadUs = r.RoundTrips[0].ClientUs - r.RoundTrips[0].PipeUs
	return nil
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// window_ makes the round trips with so many at a time and returns how long each took.
func window_(window int, call func() error) ([]time.Duration, error) {
	took := make([][]time.Duration, window)
	errs := make([]error, window)
	var wg sync.WaitGroup
	for w := range window {
		wg.Go(func() {
			for range roundTrips / window {
				began := time.Now()
				if errs[w] = call(); errs[w] != nil {
					return
				}
				took[w] = append(took[w], time.Since(began))
			}
		})
	}
	wg.Wait()
	var all []time.Duration
	for w := range window {
		if errs[w] != nil {
			return nil, errs[w]
		}
		all = append(all, took[w]...)
	}
	return all, nil
}

// rawRoundTrips keeps a window of lines in the pipes and reads the answers in order, decoding nothing.
func rawRoundTrips(window int) ([]time.Duration, error) {
	in, out, stop, err := replaying(0)
	if err != nil {
		return nil, err
	}
	defer stop()
	lines := bufio.NewReaderSize(out, 64<<10)
	began := make([]time.Time, roundTrips)
	slots := make(chan struct{}, window)
	go func() {
		for i := range roundTrips {
			slots <- struct{}{}
			began[i] = time.Now()
			fmt.Fprintf(in, `{"id":%d,"method":"thread/goal/clear","params":{"threadId":"T"}}`+"\n", i)
		}
	}()
	took := make([]time.Duration, roundTrips)
	for i := range roundTrips {
		if _, err := lines.ReadSlice('\n'); err != nil && err != io.EOF {
			return nil, err
		}
		took[i] = time.Since(began[i])
		<-slots
	}
	return took, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

const (
	slowSleep = 5 * time.Second
	slowRate  = 5000 // messages a second; a model's deltas come by the hundred
)

// slowConsumer lets one subscriber sleep and looks at what that does to another, to memory and to the sleeper.
func (r *report) slowConsumer(s *stream) error {
	rounds := 2 + int(slowSleep.Seconds())*slowRate/len(s.all.lines)
	c, events, err := subscribed("all", rounds, slowRate)
	if err != nil {
		return err
	}
	defer c.Close()
	asleep := c.Subscribe(codex.SubscribeOptions{Queue: 4096})
	type verdict struct {
		control, lagged int
		err             error
	}
	awake := make(chan verdict, 1)
	go func() {
		time.Sleep(slowSleep)
		v := verdict{}
		for {
			e, err := asleep.Next(context.Background())
			if err != nil {
				if !errors.Is(err, codex.ErrClosed) {
					v.err = err
				}
				awake <- v
				return
			}
			v.lagged += int(e.Lagged)
			if isControl(e.Method) {
				v.control++
			}
		}
	}()
	runtime.GC()
	var before, during runtime.MemStats
	runtime.ReadMemStats(&before)
	late, control, err := lateness(c, events)
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&during)
	_ = c.Close()
	v := <-awake
	if v.err != nil || v.control != control {
		return fmt.Errorf("the sleeper got %d of %d control events: %v", v.control, control, v.err)
	}
	slices.Sort(late)
	r.SlowConsumerP99Ms = float64(late[len(late)*99/100].Microseconds()) / 1e3
	r.SlowLagged, r.SlowControl = v.lagged, v.control
	r.SlowHeapMB = float64(during.HeapAlloc-min(before.HeapAlloc, during.HeapAlloc)) / (1 << 20)
	return nil
}

func isControl(method string) bool {
	switch method {
	case protocol.NotifyTurnStarted, protocol.NotifyTurnCompleted, protocol.NotifyThreadGoalUpdated, protocol.NotifyItemCompleted:
		return true
	}
	return false
}

// lateness takes the replay and returns how long after its writing each delta was taken, and how many control events came.
func lateness(c *codex.Client, events *codex.Subscription) (late []time.Duration, control int, err error) {
	codex.Dispatch(c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{}, codex.ReplyTo(events), codex.WithTimeout(10*time.Minute))
	for {
		e, err := events.Next(context.Background())
		switch {
		case err != nil:
			return nil, 0, err
		case e.Lagged > 0:
			return nil, 0, fmt.Errorf("the subscriber that is awake lagged by %d", e.Lagged)
		case e.Reply != nil:
			return late, control, e.Reply.Err
		}
		if isControl(e.Method) {
			control++
		}
		if n, ok := e.Notification.(*protocol.AgentMessageDeltaNotification); ok {
			written, err := strconv.ParseInt(n.Delta, 10, 64)
			if err != nil {
				return nil, 0, err
			}
			late = append(late, time.Duration(time.Now().UnixNano()-written))
		}
	}
}

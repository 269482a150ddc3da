package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
	"github.com/codexctl/codexctl/goal"
)

func newTestController(t *testing.T, w driver, log Log) *Controller {
	t.Helper()
	c, err := newController(w, log, Owner{PID: 7, Socket: "/s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func wantCode(t *testing.T, err error, code Code) {
	t.Helper()
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestCommandAskedForAgainGetsItsResultAndIsNotCarriedOutAgain(t *testing.T) {
	w, log := newFakeWorker(), &memoryLog{}
	w.goal = &protocol.ThreadGoal{Objective: "a", Status: protocol.ThreadGoalStatusActive}
	set := Command{ID: "1", Name: GoalSet, Text: "a"}
	c := newTestController(t, w, log)
	first, err := c.Do(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Do(t.Context(), set)
	if diff := cmp.Diff(first, again); err != nil || diff != "" {
		t.Errorf("%v (-first +again):\n%s", err, diff)
	}
	set.Text = "b"
	_, err = c.Do(t.Context(), set)
	wantCode(t, err, Malformed)
	w.err = worker.ErrOwnerFinished
	_, err = c.Do(t.Context(), Command{ID: "2", Name: GoalPause})
	wantCode(t, err, OwnerFinished)
	w.err = nil

	// A later owner has it from the journal.
	later := newFakeWorker()
	c = newTestController(t, later, log)
	set.Text = "a"
	again, err = c.Do(t.Context(), set)
	if diff := cmp.Diff(first, again); err != nil || diff != "" {
		t.Errorf("later owner: %v (-first +again):\n%s", err, diff)
	}
	_, err = c.Do(t.Context(), Command{ID: "2", Name: GoalPause})
	wantCode(t, err, OwnerFinished)
	if diff := cmp.Diff([]string{"set a", "pause"}, w.calls); diff != "" || later.calls != nil {
		t.Errorf("carried out %v and later %v", w.calls, later.calls)
	}
}

func TestCommandWhoseOwnerDiedIsAnsweredByWhatWasFoundOut(t *testing.T) {
	set := worker.Intent{Method: protocol.ThreadGoalSetMethod.Name, Objective: "a", Status: protocol.ThreadGoalStatusActive}
	stop := worker.Intent{Method: protocol.ThreadGoalSetMethod.Name, Status: protocol.ThreadGoalStatusPaused}
	for _, row := range []struct {
		found []worker.Recovery
		want  Code // "" is a result
	}{
		{[]worker.Recovery{{Intent: stop, Verdict: worker.NotDelivered}, {Intent: set, Verdict: worker.Delivered, Goal: &protocol.ThreadGoal{Objective: "a"}}}, ""},
		{[]worker.Recovery{{Intent: set, Verdict: worker.NotDelivered}}, NotSent},
		{[]worker.Recovery{{Intent: set, Verdict: worker.Undetermined}}, DeliveryUnknown},
		{nil, DeliveryUnknown},
	} {
		log := &memoryLog{}
		dead := newFakeWorker()
		dead.gate = make(chan struct{}) // never answers
		c := newTestController(t, dead, log)
		wait := c.accept(Command{ID: "1", Name: GoalSet, Text: "a"})
		for len(log.Records()) == 0 { // until it is noted
			if _, err := c.Do(t.Context(), Command{ID: "r", Name: Status}); err != nil {
				t.Fatal(err)
			}
		}
		before := &memoryLog{records: log.Records()}
		c.Close()
		if _, err := wait(); err == nil {
			t.Error("a command that was cut short has a result")
		}

		w := newFakeWorker()
		w.found = row.found
		c = newTestController(t, w, before)
		value, err := c.Do(t.Context(), Command{ID: "1", Name: GoalSet, Text: "a"})
		if row.want != "" {
			wantCode(t, err, row.want)
		} else if err != nil || value.Goal.Objective != "a" {
			t.Errorf("got %+v, %v", value, err)
		}
		if w.calls != nil {
			t.Errorf("it was carried out again: %v", w.calls)
		}
	}
}

func TestOwnerThatIsToldToEndTakesNothingNew(t *testing.T) {
	w := newFakeWorker()
	c := newTestController(t, w, nil)
	for i, stop := range []Command{{ID: "1", Name: Stop, Owner: true}, {ID: "2", Name: Stop}} {
		if _, err := c.Do(t.Context(), stop); err != nil {
			t.Errorf("stop %d: %v", i, err)
		}
		for name, spec := range specs {
			if name == Stop || !spec.mutates {
				continue
			}
			_, err := c.Do(t.Context(), Command{ID: fmt.Sprint(i, name), Name: name, Text: "x"})
			wantCode(t, err, OwnerFinished)
		}
	}
	if diff := cmp.Diff([]string{"stop", "stop"}, w.calls); diff != "" {
		t.Errorf("carried out %v", w.calls)
	}
}

func TestMutationsGoOneByOneInOrderAndStopGoesPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeWorker()
		w.gate = make(chan struct{})
		c := newTestController(t, w, nil)
		waits := map[string]func() (*Value, error){}
		for _, cmd := range []Command{
			{ID: "1", Name: GoalSet, Text: "a"}, {ID: "2", Name: GoalSet, Text: "b"}, {ID: "3", Name: GoalPause},
		} {
			waits[cmd.ID] = c.accept(cmd)
		}
		synctest.Wait()
		w.gate <- struct{}{}
		synctest.Wait()
		if diff := cmp.Diff([]string{"set a", "set b"}, w.calls); diff != "" {
			t.Fatal(diff)
		}
		if c.Retire() {
			t.Error("retired with a mutation under way")
		}
		// b is under way, the pause waits: a stop overtakes both, and what waited
		// does not begin after it.
		if _, err := c.Do(t.Context(), Command{ID: "4", Name: Stop}); err != nil {
			t.Fatal(err)
		}
		_, err := waits["3"]()
		wantCode(t, refusalOf(err), Stopped)
		w.gate <- struct{}{}
		for _, id := range []string{"1", "2"} {
			if _, err := waits[id](); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		if diff := cmp.Diff([]string{"set a", "set b", "stop"}, w.calls); diff != "" {
			t.Error(diff)
		}
		synctest.Wait()
		if !c.Retire() {
			t.Error("not retired, though nothing runs")
		}
		_, err = c.Do(t.Context(), Command{ID: "5", Name: GoalPause})
		wantCode(t, err, OwnerFinished)
		if _, err := c.Do(t.Context(), Command{ID: "6", Name: GoalShow}); err != nil {
			t.Errorf("a read is refused: %v", err)
		}
		c.Close()
	})
}

func TestCallerWhoGivesUpChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeWorker()
		w.gate = make(chan struct{})
		c := newTestController(t, w, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := c.Do(ctx, Command{ID: "1", Name: GoalSet, Text: "a"})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		close(w.gate)
		if _, err := c.Do(t.Context(), Command{ID: "1", Name: GoalSet, Text: "a"}); err != nil {
			t.Errorf("asked again: %v", err)
		}
		if diff := cmp.Diff([]string{"set a"}, w.calls); diff != "" {
			t.Error(diff)
		}
		c.Close()
	})
}

func TestNothingIsSentThatCouldNotBeNoted(t *testing.T) {
	w, log := newFakeWorker(), &memoryLog{err: errors.New("disk full")}
	c := newTestController(t, w, log)
	for _, cmd := range []Command{{ID: "1", Name: GoalSet, Text: "a"}, {ID: "2", Name: Steer, Text: "x"}} {
		_, err := c.Do(t.Context(), cmd)
		wantCode(t, err, NotSent)
		if !strings.Contains(err.Error(), "disk full") {
			t.Error(err)
		}
	}
	// A stop works all the same.
	if _, err := c.Do(t.Context(), Command{ID: "3", Name: Stop}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"stop"}, w.calls); diff != "" {
		t.Error(diff)
	}
}

func TestEachCommandReachesTheWorkerInItsOwnWay(t *testing.T) {
	w := newFakeWorker()
	c := newTestController(t, w, nil)
	n := 0
	do := func(cmd Command) error {
		n++
		cmd.ID = fmt.Sprint(n)
		_, err := c.Do(t.Context(), cmd)
		return err
	}
	for _, cmd := range []Command{
		{Name: GoalEdit, Text: "new", Budget: protocol.Some(int64(5))},
		{Name: GoalEdit, Budget: protocol.Null[int64]()},
		{Name: GoalResume, Budget: protocol.Some(int64(9))},
		{Name: GoalResume}, {Name: GoalClear}, {Name: Steer, Text: "x"},
	} {
		if err := do(cmd); err != nil {
			t.Errorf("%s: %v", cmd.Name, err)
		}
	}
	wantCode(t, do(Command{Name: Prompt, Text: "hi"}), Busy)
	want := []string{"edit new budget 5", "budget -1", "resume budget 9", "resume", "clear", "steer x", "prompt hi"}
	if diff := cmp.Diff(want, w.calls); diff != "" {
		t.Error(diff)
	}
}

func TestACommandIsForTheOperationThatOwnedTheThreadWhenItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeWorker()
		w.gate = make(chan struct{})
		c := newTestController(t, w, nil)
		seen := &worker.Operation{}
		w.op = seen
		var waits []func() (*Value, error)
		for i, name := range []Name{GoalSet, GoalEdit, GoalResume} {
			waits = append(waits, c.accept(Command{ID: fmt.Sprint(i), Name: name, Text: "a"}))
		}
		synctest.Wait()
		w.mu.Lock()
		w.op = nil // it ends while they wait in line
		w.mu.Unlock()
		close(w.gate)
		for _, wait := range waits {
			if _, err := wait(); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(w.meant, []*worker.Operation{seen, seen, seen}) {
			t.Errorf("meant for %v, want %p each time", w.meant, seen)
		}
		c.Close()
	})
}

func TestErrorsOfTheWorkerHaveTheirCodes(t *testing.T) {
	for want, err := range map[Code]error{
		Busy:            fmt.Errorf("x: %w", worker.ErrBusy),
		OwnerFinished:   worker.ErrOwnerFinished,
		ThreadHeld:      &worker.HeldError{Thread: "t", Err: &codex.RPCError{Message: "thread t already has an active writer"}},
		TooLate:         worker.ErrNoTurn,
		Stopped:         worker.ErrStopped,
		Rejected:        &codex.RPCError{Message: "no"},
		NotSent:         &codex.DeliveryError{Delivery: codex.NotSent, Err: io.EOF},
		DeliveryUnknown: &codex.DeliveryError{Delivery: codex.Unknown, Err: io.EOF},
		Disconnected:    worker.ErrDisconnected,
		Failed:          errors.New("else"),
		Malformed:       worker.ErrBlankObjective,
	} {
		if got := refusalOf(err); got.Code != want || got.Reason != err.Error() {
			t.Errorf("%v: got %+v, want %s", err, got, want)
		}
	}
}

func TestStatusSaysUnavailableWhenTheGoalCannotBeRead(t *testing.T) {
	w := newFakeWorker()
	c := newTestController(t, w, nil)
	status := func() *Snapshot {
		t.Helper()
		v, err := c.Do(t.Context(), Command{ID: "1", Name: Status})
		if err != nil {
			t.Fatal(err)
		}
		return v.Status
	}
	if s := status(); s.State != goal.None || s.Thread != "thread-1" || s.Owner.PID != 7 || s.Directory != "/d" {
		t.Errorf("got %+v", s)
	}
	w.err = errors.New("codex is away")
	s := status()
	if s.State != goal.Unavailable || s.Goal != nil || len(s.Actions) != 0 || !strings.Contains(s.Why, "codex is away") {
		t.Errorf("got %+v", s)
	}
	v, err := c.Do(t.Context(), Command{ID: "2", Name: CommandsList})
	if err != nil || v.Commands[0].Name != "goal" || v.Commands[0].Mode.State != goal.Unavailable {
		t.Errorf("got %+v, %v", v, err)
	}
	if _, err = c.Do(t.Context(), Command{ID: "3", Name: GoalShow}); err == nil {
		t.Error("an unreadable goal was shown")
	}
}

func TestStopWithOwnerAsksForTheOwnersEnd(t *testing.T) {
	w := newFakeWorker()
	c := newTestController(t, w, nil)
	select {
	case <-c.Ending():
		t.Fatal("ending before it was asked for")
	default:
	}
	if _, err := c.Do(t.Context(), Command{ID: "1", Name: Stop, Owner: true}); err != nil {
		t.Fatal(err)
	}
	<-c.Ending()
}

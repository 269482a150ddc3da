package codextest_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// session is the module's own client on the real Codex, with everything it hears.
type session struct {
	t      *testing.T
	ctx    context.Context
	client *codex.Client
	events *codex.Subscription
	home   *codextest.Home
}

func startSession(t *testing.T, model *codextest.Model, o codextest.HomeOptions) *session {
	t.Helper()
	s := &session{t: t, home: codextest.TempHome(t, model, o)}
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(t.Context(), patience)
	client, err := codex.Start(s.ctx, codex.Options{Path: codextest.Binary(t), Dir: s.home.Work, Env: s.home.Env()})
	if err != nil {
		t.Fatal(err)
	}
	s.client = client
	s.events = client.Subscribe(codex.SubscribeOptions{})
	t.Cleanup(func() {
		cancel()
		s.events.Close()
		if err := client.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
	})
	return s
}

func request[P, R any](s *session, m protocol.ClientMethod[P, R], params P) R {
	s.t.Helper()
	result, err := codex.Call(s.ctx, s.client, m, params)
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

// notified waits for the next notification of that type.
func notified[N protocol.Notification](s *session) N {
	s.t.Helper()
	for {
		e, err := s.events.Next(s.ctx)
		if err != nil {
			var want N
			s.t.Fatalf("no %T: %v", want, err)
		}
		if n, is := e.Notification.(N); is {
			return n
		}
	}
}

// pursue starts a thread with that objective and returns the thread's id.
func (s *session) pursue(objective string) string {
	s.t.Helper()
	thread := request(s, protocol.ThreadStartMethod, protocol.ThreadStartParams{Cwd: protocol.Some(s.home.Work)}).Thread.ID
	request(s, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: thread, Objective: protocol.Some(objective)})
	return thread
}

func (s *session) goalStatus(thread string) protocol.ThreadGoalStatus {
	s.t.Helper()
	goal := request(s, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: thread}).Goal
	if goal == nil {
		s.t.Fatal("the thread has no goal")
	}
	return goal.Status
}

// What Codex 0.160.1 makes of a model that fails in a turn it started for a goal, with retries off: it asks once, the
// turn fails, and the goal is active no more.
func TestFailureOfTheModelStopsTheGoal(t *testing.T) {
	t.Parallel()
	const blocked, usageLimited = protocol.ThreadGoalStatusBlocked, protocol.ThreadGoalStatusUsageLimited
	status := func(code uint16) *uint16 { return &code }
	rows := []struct {
		failure string
		reply   codextest.Reply
		goal    protocol.ThreadGoalStatus // afterwards
		info    protocol.CodexErrorInfoArm
	}{
		{"HTTP 500", codextest.Reply{codextest.ServerError()}, blocked, protocol.CodexErrorInfoInternalServerError},
		{
			"HTTP 429 rate limit", codextest.Reply{codextest.RateLimited()}, blocked,
			&protocol.CodexErrorInfoResponseTooManyFailedAttempts{HTTPStatusCode: status(429)},
		},
		{"HTTP 429 usage limit", codextest.Reply{codextest.UsageLimitReached()}, usageLimited, protocol.CodexErrorInfoUsageLimitExceeded},
		{
			"HTTP 401", codextest.Reply{codextest.Unauthorized()}, blocked,
			&protocol.CodexErrorInfoHTTPConnectionFailed{HTTPStatusCode: status(401)},
		},
		{"HTTP 400", codextest.Reply{codextest.BadRequest("no such model")}, blocked, protocol.CodexErrorInfoOther},
		{"HTTP 503", codextest.Reply{codextest.Overloaded()}, blocked, protocol.CodexErrorInfoServerOverloaded},
		{
			"context window", codextest.Reply{codextest.Failed("context_length_exceeded", "too long")}, blocked,
			protocol.CodexErrorInfoContextWindowExceeded,
		},
		{
			"quota", codextest.Reply{codextest.Failed("insufficient_quota", "no credit")}, usageLimited,
			protocol.CodexErrorInfoUsageLimitExceeded,
		},
		{"other failure", codextest.Reply{codextest.Text("Well,"), codextest.Failed("boom", "it broke")}, blocked, protocol.CodexErrorInfoOther},
		{"cut before output", codextest.Reply{codextest.Cut()}, blocked, protocol.CodexErrorInfoOther},
		{"cut in a message", codextest.Reply{codextest.Text("Half a sen"), codextest.Cut()}, blocked, protocol.CodexErrorInfoOther},
	}
	replies := make(map[string]codextest.Reply)
	for _, row := range rows {
		replies[row.failure] = row.reply
	}
	model := codextest.StartModel(t, func(r codextest.Request) codextest.Reply { return replies[r.Objective()] })
	s := startSession(t, model, codextest.HomeOptions{})

	for i, row := range rows {
		thread := s.pursue(row.failure)
		announced := notified[*protocol.ErrorNotification](s)
		completed := notified[*protocol.TurnCompletedNotification](s).Turn
		if goal := s.goalStatus(thread); completed.Status != protocol.TurnStatusFailed || goal != row.goal {
			t.Errorf("%s: turn %s, goal %s; want turn failed, goal %s", row.failure, completed.Status, goal, row.goal)
		}
		if announced.WillRetry || completed.Error == nil || !reflect.DeepEqual(announced.Error, *completed.Error) {
			t.Errorf("%s: announced %+v, then the turn failed with %+v", row.failure, announced, completed.Error)
		}
		if info := announced.Error.CodexErrorInfo; info == nil || !reflect.DeepEqual(info.Arm, row.info) {
			t.Errorf("%s: error info %+v, want %+v", row.failure, info, row.info)
		}
		if n := len(model.Requests()); n != i+1 {
			t.Fatalf("%s: the model has been asked %d times in all, want %d", row.failure, n, i+1)
		}
	}
}

func TestStreamThatIsRetriedLeavesTurnAndGoalAsTheyAre(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Half a sen"), codextest.Cut()},
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("Done.")},
	))
	s := startSession(t, model, codextest.HomeOptions{
		Settings: map[string]string{"model_providers.scripted.stream_max_retries": "3"},
	})
	thread := s.pursue("Carry on")

	retried := notified[*protocol.ErrorNotification](s)
	if !retried.WillRetry || !strings.Contains(retried.Error.Message, "1/3") {
		t.Errorf("error %+v, want the first retry of three", retried)
	}
	if turn := notified[*protocol.TurnCompletedNotification](s).Turn; turn.ID != retried.TurnID || turn.Status != protocol.TurnStatusCompleted {
		t.Errorf("turn %s %s, want %s completed", turn.ID, turn.Status, retried.TurnID)
	}
	if status := s.goalStatus(thread); status != protocol.ThreadGoalStatusComplete {
		t.Errorf("goal %s, want complete", status)
	}
}

// As Codex 0.160.1 comes, no number of retries ends a turn whose model cannot be reached; an interrupt does.
func TestUnreachableModelIsRetriedWithoutEndUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.InOrder())
	s := startSession(t, model, codextest.HomeOptions{
		Settings: map[string]string{"features.unbounded_connection_retries": ""},
	})
	if err := model.Close(); err != nil {
		t.Fatal(err)
	}
	thread := s.pursue("Reach out")
	turn := notified[*protocol.TurnStartedNotification](s).Turn.ID
	// The retries that the configuration allows are none.
	if e := notified[*protocol.ErrorNotification](s); !e.WillRetry || e.TurnID != turn {
		t.Fatalf("error %+v, want one that is retried", e)
	}
	request(s, protocol.TurnInterruptMethod, protocol.TurnInterruptParams{ThreadID: thread, TurnID: turn})
	if end := notified[*protocol.TurnCompletedNotification](s).Turn; end.ID != turn || end.Status != protocol.TurnStatusInterrupted {
		t.Errorf("turn %s %s, want %s interrupted", end.ID, end.Status, turn)
	}
}

package goal_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/goal"
)

func of(status protocol.ThreadGoalStatus) *protocol.ThreadGoal {
	return &protocol.ThreadGoal{Objective: "o", Status: status}
}

func TestEveryStateHasItsDotAndItsActions(t *testing.T) {
	stopped := []goal.Action{goal.Resume, goal.Edit, goal.Set, goal.Clear}
	for _, row := range []struct {
		goal    *protocol.ThreadGoal
		err     error
		state   goal.State
		colour  goal.Colour
		dot     string
		actions []goal.Action
	}{
		{of(protocol.ThreadGoalStatusActive), nil, goal.Active, goal.Green, "●", []goal.Action{goal.Pause, goal.Edit, goal.Set, goal.Clear}},
		{of(protocol.ThreadGoalStatusPaused), nil, goal.Paused, goal.Amber, "●", stopped},
		{of(protocol.ThreadGoalStatusBlocked), nil, goal.Blocked, goal.Amber, "●", stopped},
		{of(protocol.ThreadGoalStatusUsageLimited), nil, goal.UsageLimited, goal.Amber, "●", stopped},
		{of(protocol.ThreadGoalStatusBudgetLimited), nil, goal.BudgetLimited, goal.Amber, "●", stopped},
		{of(protocol.ThreadGoalStatusComplete), nil, goal.Complete, goal.Blue, "●", []goal.Action{goal.Set, goal.Clear}},
		{of("dreaming"), nil, "dreaming", goal.Neutral, "●", []goal.Action{goal.Set, goal.Clear}},
		{nil, nil, goal.None, goal.Neutral, "○", []goal.Action{goal.Set}},
		{nil, errors.New("read failed"), goal.Unavailable, goal.Neutral, "○", nil},
		{of(protocol.ThreadGoalStatusActive), errors.New("read failed"), goal.Unavailable, goal.Neutral, "○", nil},
	} {
		state := goal.StateOf(row.goal, row.err)
		if state != row.state || state.Colour() != row.colour || state.Dot() != row.dot || !slices.Equal(state.Actions(), row.actions) {
			t.Errorf("%v, %v: got %s %s %s %v", row.goal, row.err, state, state.Colour(), state.Dot(), state.Actions())
		}
	}
}

func TestBlockedGoalSaysWhoBlockedIt(t *testing.T) {
	failed := &protocol.TurnError{Message: "stream cut"}
	for _, row := range []struct {
		goal   *protocol.ThreadGoal
		failed *protocol.TurnError
		want   string
	}{
		{of(protocol.ThreadGoalStatusBlocked), failed, "a turn failed: stream cut"},
		{of(protocol.ThreadGoalStatusBlocked), nil, "the model says"},
		{of(protocol.ThreadGoalStatusUsageLimited), failed, "usage limit was reached: stream cut"},
		{of(protocol.ThreadGoalStatusBudgetLimited), nil, "raise it and resume"},
	} {
		if got := goal.Why(row.goal, row.failed); !strings.Contains(got, row.want) {
			t.Errorf("%s: got %q, want %q in it", row.goal.Status, got, row.want)
		}
	}
	for _, g := range []*protocol.ThreadGoal{nil, of(protocol.ThreadGoalStatusActive), of(protocol.ThreadGoalStatusComplete)} {
		if got := goal.Why(g, nil); got != "" {
			t.Errorf("%v: got %q", g, got)
		}
	}
}

func TestAFailedTurnIsTriedAgainOnlyWhereThatMayHelp(t *testing.T) {
	status := func(code uint16) *uint16 { return &code }
	for _, row := range []struct {
		info protocol.CodexErrorInfoArm
		want string
	}{
		{protocol.CodexErrorInfoServerOverloaded, "cut; resume tries once more"},
		{protocol.CodexErrorInfoInternalServerError, "cut; resume tries once more"},
		{&protocol.CodexErrorInfoResponseTooManyFailedAttempts{HTTPStatusCode: status(429)}, "cut; resume tries once more"},
		{&protocol.CodexErrorInfoResponseStreamDisconnected{}, "cut; resume tries once more"},
		{&protocol.CodexErrorInfoHTTPConnectionFailed{HTTPStatusCode: status(401)}, "run: codex login, then resume"},
		{protocol.CodexErrorInfoUnauthorized, "run: codex login, then resume"},
		{protocol.CodexErrorInfoBadRequest, "the same one would be again"},
		{&protocol.CodexErrorInfoHTTPConnectionFailed{HTTPStatusCode: status(400)}, "the same one would be again"},
		{protocol.CodexErrorInfoOther, "helps only if the request itself was not refused"},
		{protocol.CodexErrorInfoContextWindowExceeded, "compact it first"},
	} {
		failed := &protocol.TurnError{Message: "cut", CodexErrorInfo: &protocol.CodexErrorInfo{Arm: row.info}}
		got := goal.Why(of(protocol.ThreadGoalStatusBlocked), failed)
		if !strings.Contains(got, row.want) {
			t.Errorf("%+v: got %q, want %q", row.info, got, row.want)
		}
		if again := strings.HasSuffix(got, "resume tries once more"); again != strings.HasSuffix(row.want, "resume tries once more") {
			t.Errorf("%+v: got %q", row.info, got)
		}
	}
}

func TestFiguresAreForPeople(t *testing.T) {
	budget := int64(5000)
	g := of(protocol.ThreadGoalStatusActive)
	g.TokensUsed, g.TimeUsedSeconds = 1234567, 187
	if got := goal.Tokens(g); got != "1,234,567 tokens" {
		t.Error(got)
	}
	g.TokensUsed, g.TokenBudget = 999, &budget
	if got := goal.Tokens(g); got != "999 of 5,000 tokens" {
		t.Error(got)
	}
	if got := goal.Clock(goal.Spent(g)); got != "3m07s" {
		t.Error(got)
	}
	for d, want := range map[time.Duration]string{0: "0s", 59900 * time.Millisecond: "59s", 2*time.Hour + 5*time.Minute: "2h05m"} {
		if got := goal.Clock(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", -1000: "-1,000", 100: "100", 1 << 62: "4,611,686,018,427,387,904"} {
		if got := goal.Thousands(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestCommandDescribesItself(t *testing.T) {
	d := goal.Describe(of(protocol.ThreadGoalStatusPaused), nil)
	if want := "[OBJECTIVE | pause | resume | clear | edit TEXT]"; d.Name != "goal" || d.ArgumentHelp != want {
		t.Errorf("got %s %s, want goal %s", d.Name, d.ArgumentHelp, want)
	}
	if d.Mode.State != goal.Paused || d.Mode.Colour != goal.Amber || d.Mode.Actions[0] != goal.Resume {
		t.Errorf("got mode %+v", d.Mode)
	}
	// What it says of its arguments is what the parser takes.
	for _, a := range d.Arguments {
		var args []string
		if a.Usage != "" {
			args = strings.Fields(a.Usage)
		}
		if got, err := goal.ParseArgs(args); err != nil || got.Action != a.Action {
			t.Errorf("%q: got %+v, %v; want %s", a.Usage, got, err, a.Action)
		}
	}
	out, err := json.Marshal(goal.Describe(nil, errors.New("read failed")).Mode)
	if want := `{"name":"goal","state":"unavailable","label":"goal unavailable","colour":"neutral","actions":[]}`; err != nil || string(out) != want {
		t.Errorf("got %s, %v; want %s", out, err, want)
	}
}

package control

import (
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
)

// connected are streams that are being served.
func connected(t *testing.T, c *Controller, n int) (conns []*Conn) {
	t.Helper()
	for range n {
		conn := c.Connect()
		if _, err := conn.Do(t.Context(), Command{ID: "1", Name: GoalShow}, nil); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	return conns
}

func TestEventsReachEveryStreamAndThenItsEnd(t *testing.T) {
	w := newFakeWorker()
	c := newTestController(t, w, nil)
	conns := connected(t, c, 2)
	w.tell(worker.Event{Notification: &protocol.WarningNotification{Message: "look"}})
	for _, conn := range conns {
		e, err := conn.Next(t.Context())
		if warning, ok := e.Payload.(*Warning); err != nil || !ok || warning.Message != "look" {
			t.Errorf("got %+v, %v", e.Payload, err)
		}
	}
	close(w.over)
	for _, conn := range conns {
		e, err := conn.Next(t.Context())
		if closed, ok := e.Payload.(*StreamClosed); err != nil || !ok || closed.Reason != ClosedByOwner {
			t.Errorf("got %+v, %v", e.Payload, err)
		}
		if _, err := conn.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("after the end came %v", err)
		}
	}
}

func TestReaderTooSlowForEverythingIsToldSo(t *testing.T) {
	w := newFakeWorker()
	w.slow = &codex.LaggedError{Events: 8192}
	c := newTestController(t, w, nil)
	conn := connected(t, c, 1)[0]
	close(w.over)
	e, err := conn.Next(t.Context())
	if closed, ok := e.Payload.(*StreamClosed); err != nil || !ok || closed.Reason != ClosedByLag {
		t.Errorf("got %+v, %v", e.Payload, err)
	}
}

func command(id, thread, item string) *codex.ServerRequest {
	run := "rm -r /"
	return &codex.ServerRequest{ID: id, Thread: thread, Params: &protocol.CommandExecutionRequestApprovalParams{TurnID: "t", ItemID: item, Command: &run}}
}

func tool(id string, meta string) *codex.ServerRequest {
	form := &protocol.McpServerElicitationRequestParamsForm{Message: "really?", Meta: []byte(meta)}
	return &codex.ServerRequest{ID: id, Thread: "thread-1", Params: &protocol.McpServerElicitationRequestParams{ServerName: "files", Arm: form}}
}

func commandAnswer(d protocol.CommandExecutionApprovalDecisionValue) *protocol.CommandExecutionRequestApprovalResponse {
	return &protocol.CommandExecutionRequestApprovalResponse{Decision: protocol.CommandExecutionApprovalDecision{Arm: d}}
}

func TestAnApprovalIsAskedAndThenAnsweredWithWhoDecided(t *testing.T) {
	own := command("1", "thread-1", "i")
	toolApproval := tool("2", `{"codex_approval_kind":"mcp_tool_call"}`)
	declined := commandAnswer(protocol.CommandExecutionApprovalDecisionDecline)
	for _, row := range []struct {
		answer codex.ServerAnswer
		want   string
	}{
		{codex.ServerAnswer{Request: own, By: codex.AnsweredByHandler, Response: commandAnswer(protocol.CommandExecutionApprovalDecisionAccept), Who: ByUser}, "accept user"},
		{codex.ServerAnswer{Request: own, By: codex.AnsweredByHandler, Response: declined, Who: ByNobody, Reason: "away"}, "decline nobody away"},
		{codex.ServerAnswer{Request: own, By: codex.AnsweredByHandler, Response: declined}, "decline client"},
		{codex.ServerAnswer{Request: own, By: codex.AnsweredByTimeout, Response: declined}, "decline timeout"},
		{codex.ServerAnswer{Request: own, By: codex.AnsweredByRefusal, Response: declined}, "decline client nothing here could decide it"},
		{codex.ServerAnswer{Request: own, By: codex.AnsweredByResolved}, "withdrawn codex Codex does not wait for an answer any more"},
		{codex.ServerAnswer{Request: own, By: codex.AnsweredByClosed}, "withdrawn codex the connection to Codex has ended"},
		{codex.ServerAnswer{Request: toolApproval, By: codex.AnsweredByHandler, Who: ByUser,
			Response: &protocol.McpServerElicitationRequestResponse{Action: protocol.McpServerElicitationActionAccept}}, "accept user"},
		{codex.ServerAnswer{Request: command("3", "child", "i"), By: codex.AnsweredByHandler, Response: declined, Who: ByUser}, "decline user"},
	} {
		tr := translator{thread: "thread-1"}
		told := slices.Concat(tr.events(worker.Event{Request: row.answer.Request}), tr.events(worker.Event{Answer: &row.answer}))
		asked, ok := told[0].(*ApprovalAsked)
		if !ok || len(told) != 2 {
			t.Fatalf("told %+v", told)
		}
		answered := told[1].(*ApprovalAnswered)
		if got := strings.TrimSpace(fmt.Sprint(answered.Decision, " ", answered.By, " ", answered.Reason)); got != row.want || answered.ApprovalAsked != *asked {
			t.Errorf("%+v: got %s, want %s", asked, got, row.want)
		}
		if thread := row.answer.Request.Thread; asked.Request != row.answer.Request.ID || asked.Thread != "" != (thread == "child") {
			t.Errorf("asked %+v by thread %s", asked, thread)
		}
	}
}

func TestAFormOfAnMCPServerThatIsDeclinedIsWarnedOf(t *testing.T) {
	tr := translator{}
	form := tool("1", "{}")
	answer := &codex.ServerAnswer{Request: form, By: codex.AnsweredByHandler, Response: &protocol.McpServerElicitationRequestResponse{Action: protocol.McpServerElicitationActionDecline}}
	got := slices.Concat(tr.events(worker.Event{Request: form}), tr.events(worker.Event{Answer: answer}))
	if warning, ok := got[0].(*Warning); !ok || len(got) != 1 || warning.Code != "DECLINED" {
		t.Errorf("got %+v", got)
	}
}

func TestStatusWaitsOnlyForWhatHasNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeWorker()
		c := newTestController(t, w, nil)
		now := func() string {
			t.Helper()
			synctest.Wait()
			v, err := c.Do(t.Context(), Command{ID: "1", Name: Status})
			if err != nil {
				t.Fatal(err)
			}
			return v.Status.Now
		}
		started := worker.Event{Notification: &protocol.TurnStartedNotification{Turn: protocol.Turn{ID: "t"}}}
		first, second := command("1", "thread-1", "i"), tool("2", `{"codex_approval_kind":"mcp_tool_call"}`)
		w.tell(started, worker.Event{Request: first}, worker.Event{Request: second})
		got := []string{now()}
		w.tell(worker.Event{Answer: &codex.ServerAnswer{Request: second, By: codex.AnsweredByResolved}})
		got = append(got, now())
		w.tell(worker.Event{Answer: &codex.ServerAnswer{Request: first, By: codex.AnsweredByHandler, Response: commandAnswer(protocol.CommandExecutionApprovalDecisionAccept)}})
		got = append(got, now())
		want := []string{"waiting for leave to call a tool of the MCP server files: really?", "waiting for leave to run outside the sandbox: rm -r /", "working"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		close(w.over)
		c.Close()
	})
}

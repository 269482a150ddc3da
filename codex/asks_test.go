package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// says makes a handler that notes that it was called and answers.
func says[P, R any](called *[]string, result R) codex.Handler[P, R] {
	return func(_ context.Context, params *P) (R, error) {
		*called = append(*called, fmt.Sprintf("%T", params))
		return result, nil
	}
}

func allHandlers(called *[]string) codex.ServerHandlers {
	text := func(s string) *protocol.DynamicToolCallOutputContentItemInputText {
		return &protocol.DynamicToolCallOutputContentItemInputText{Text: s}
	}
	return codex.ServerHandlers{
		ApproveCommand: says[protocol.CommandExecutionRequestApprovalParams](called, protocol.CommandExecutionRequestApprovalResponse{
			Decision: protocol.CommandExecutionApprovalDecision{Arm: protocol.CommandExecutionApprovalDecisionAccept}}),
		ApproveFileChange: says[protocol.FileChangeRequestApprovalParams](called, protocol.FileChangeRequestApprovalResponse{Decision: protocol.FileChangeApprovalDecisionAccept}),
		GrantPermissions:  says[protocol.PermissionsRequestApprovalParams](called, protocol.PermissionsRequestApprovalResponse{}),
		AnswerQuestions: says[protocol.ToolRequestUserInputParams](called, protocol.ToolRequestUserInputResponse{
			Answers: map[string]protocol.ToolRequestUserInputAnswer{"q": {Answers: []string{"yes"}}}}),
		Elicit:        says[protocol.McpServerElicitationRequestParams](called, protocol.McpServerElicitationRequestResponse{Action: protocol.McpServerElicitationActionAccept}),
		CallTool:      says[protocol.DynamicToolCallParams](called, protocol.DynamicToolCallResponse{Success: true, ContentItems: []protocol.DynamicToolCallOutputContentItem{{Arm: text("done")}}}),
		RefreshTokens: says[protocol.ChatgptAuthTokensRefreshParams](called, protocol.ChatgptAuthTokensRefreshResponse{AccessToken: "a", ChatgptAccountID: "b"}),
		Attest:        says[protocol.AttestationGenerateParams](called, protocol.AttestationGenerateResponse{Token: "t"}),
		CurrentTime:   says[protocol.CurrentTimeReadParams](called, protocol.CurrentTimeReadResponse{CurrentTimeAt: 7}),
		ApprovePatch: says[protocol.ApplyPatchApprovalParams](called, protocol.ApplyPatchApprovalResponse{
			Decision: protocol.ReviewDecision{Arm: protocol.ReviewDecisionApproved}}),
		ApproveExec: says[protocol.ExecCommandApprovalParams](called, protocol.ExecCommandApprovalResponse{
			Decision: protocol.ReviewDecision{Arm: protocol.ReviewDecisionApproved}}),
	}
}

// asked has a row for each of the eleven server requests: what the handler of allHandlers answers, and the safe refusal.
var asked = map[string]struct{ answer, refusal string }{
	"item/commandExecution/requestApproval": {`{"decision":"accept"}`, `{"decision":"decline"}`},
	"item/fileChange/requestApproval":       {`{"decision":"accept"}`, `{"decision":"decline"}`},
	"item/permissions/requestApproval":      {`{"permissions":{}}`, `{"permissions":{},"scope":"turn"}`},
	"item/tool/requestUserInput":            {`{"answers":{"q":{"answers":["yes"]}}}`, `{"answers":{}}`},
	"mcpServer/elicitation/request":         {`{"action":"accept"}`, `{"action":"decline"}`},
	"item/tool/call": {`{"contentItems":[{"type":"inputText","text":"done"}],"success":true}`,
		`{"contentItems":[{"type":"inputText","text":"This client does not run the tool."}],"success":false}`},
	"account/chatgptAuthTokens/refresh": {`{"accessToken":"a","chatgptAccountId":"b"}`, "error -32603"},
	"attestation/generate":              {`{"token":"t"}`, "error -32603"},
	"currentTime/read":                  {`{"currentTimeAt":7}`, `{"currentTimeAt":946684800}`}, // synctest's clock
	"applyPatchApproval":                {`{"decision":"approved"}`, `{"decision":{"denied":{"rejection":"This client does not approve it."}}}`},
	"execCommandApproval":               {`{"decision":"approved"}`, `{"decision":{"denied":{"rejection":"This client does not approve it."}}}`},
	"some/day":                          {"error -32601", "error -32601"},
}

// answers returns what the client has answered, by id.
func answers(t *testing.T, peer *codextest.Peer) map[string]string {
	t.Helper()
	synctest.Wait()
	all := make(map[string]string)
	for _, m := range peer.Messages() {
		if m.Method != "" {
			continue
		}
		got := string(m.Result)
		if m.Error != nil {
			var e struct{ Code int64 }
			if err := json.Unmarshal(m.Error, &e); err != nil {
				t.Fatal(err)
			}
			got = fmt.Sprint("error ", e.Code)
		}
		if _, twice := all[string(m.ID)]; twice {
			t.Errorf("request %s was answered twice", m.ID)
		}
		all[string(m.ID)] = got
	}
	return all
}

func TestEveryServerRequestIsAnsweredByItsHandlerOrRefused(t *testing.T) {
	for m := range protocol.Methods() {
		if _, ok := asked[m.Name]; !ok && m.Direction == protocol.DirServerRequest {
			t.Errorf("%s is not tested", m.Name)
		}
	}
	for method, want := range asked {
		for _, handled := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", method, handled), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					peer := codextest.NewPeer()
					var called []string
					o := codex.Options{}
					expect := want.refusal
					if handled {
						o.Handlers, expect = allHandlers(&called), want.answer
					}
					c := start(t, peer, o)
					defer c.Close()
					s := c.Subscribe(codex.SubscribeOptions{Thread: "T"})
					id := peer.Ask(method, map[string]any{"threadId": "T", "itemId": "I"})
					got := answers(t, peer)[fmt.Sprint(id)]
					if got != expect {
						t.Errorf("answered %s, want %s", got, expect)
					}
					if n := len(called); (n == 1) != (handled && method != "some/day") {
						t.Errorf("handlers called: %v", called)
					}
					e := next(t, s)
					if e.Method != method || e.Request == nil || e.Request.ID != fmt.Sprint(id) || e.Request.Thread != "T" {
						t.Errorf("event %+v", e)
					}
					if len(called) == 1 && fmt.Sprintf("%T", e.Request.Params) != called[0] {
						t.Errorf("event carries %T, handler got %s", e.Request.Params, called[0])
					}
				})
			})
		}
	}
}

func approve(h codex.Handler[protocol.FileChangeRequestApprovalParams, protocol.FileChangeRequestApprovalResponse]) codex.Options {
	return codex.Options{Handlers: codex.ServerHandlers{ApproveFileChange: h}}
}

type fileApproval = protocol.FileChangeRequestApprovalResponse

var (
	accept     = fileApproval{Decision: protocol.FileChangeApprovalDecisionAccept}
	accepted   = `{"decision":"accept"}`
	declined   = `{"decision":"decline"}`
	fileChange = "item/fileChange/requestApproval"
	ofThread   = map[string]any{"threadId": "T", "turnId": "U", "itemId": "I"}
)

func TestHandlerThatFailsGetsTheSafeRefusal(t *testing.T) {
	for name, h := range map[string]codex.Handler[protocol.FileChangeRequestApprovalParams, fileApproval]{
		"error": func(context.Context, *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			return accept, errors.New("no idea")
		},
		"panic": func(context.Context, *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			panic("no idea")
		},
		"answer that cannot be read": func(context.Context, *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			return fileApproval{Decision: "\xff"}, nil
		},
		"too late": func(ctx context.Context, _ *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			<-ctx.Done()
			time.Sleep(10 * time.Second)
			return accept, nil
		},
		"time over": func(ctx context.Context, _ *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			<-ctx.Done()
			return accept, ctx.Err()
		},
		"never": func(ctx context.Context, p *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			time.Sleep(time.Hour)
			return accept, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peer := codextest.NewPeer()
				o := approve(h)
				o.HandlerTimeout = time.Minute
				c := start(t, peer, o)
				defer c.Close()
				id := peer.Ask(fileChange, ofThread)
				time.Sleep(2 * time.Minute)
				if got := answers(t, peer)[fmt.Sprint(id)]; got != declined {
					t.Errorf("answered %s", got)
				}
				time.Sleep(time.Hour)
				if got := answers(t, peer); len(got) != 1 || c.Stats().Refused != 1 {
					t.Errorf("answered %v, refused %d", got, c.Stats().Refused)
				}
			})
		})
	}
}

func TestHandlerWhoseTimeIsOverMaySayWhyAndThenAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer(codextest.On("turn/steer").Answer(map[string]any{"turnId": "U"}))
		var c *codex.Client
		var cause error
		o := approve(func(ctx context.Context, p *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			time.Sleep(4 * time.Second) // of five
			_, err := codex.Call(context.WithoutCancel(ctx), c, protocol.TurnSteerMethod,
				protocol.TurnSteerParams{ThreadID: p.ThreadID, ExpectedTurnID: p.TurnID, Input: []protocol.UserInput{}})
			return accept, err
		})
		o.HandlerTimeout = time.Minute
		c = start(t, peer, o)
		defer c.Close()
		id := peer.Ask(fileChange, ofThread)
		time.Sleep(61 * time.Second)
		if got := answers(t, peer); len(got) != 0 || !errors.Is(cause, codex.ErrHandlerTimeout) || !errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("answered %v, cause %v", got, cause)
		}
		time.Sleep(time.Hour)
		if got := answers(t, peer)[fmt.Sprint(id)]; got != accepted || c.Stats().Refused != 0 {
			t.Errorf("answered %s, refused %d", got, c.Stats().Refused)
		}
	})
}

func TestHandlerThatEndsItsGoroutineIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer()
		c := start(t, peer, approve(func(context.Context, *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			runtime.Goexit()
			return accept, nil
		}))
		defer c.Close()
		id := peer.Ask(fileChange, ofThread)
		if got := answers(t, peer)[fmt.Sprint(id)]; got != declined { // the clock stands still
			t.Errorf("answered %q", got)
		}
	})
}

func TestParamsThatDoNotFitAreRefusedWithoutTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer()
		c := start(t, peer, approve(func(context.Context, *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			t.Error("called")
			return accept, nil
		}))
		defer c.Close()
		s := c.Subscribe(codex.SubscribeOptions{})
		id := peer.Ask(fileChange, map[string]any{"threadId": 7})
		if got := answers(t, peer)[fmt.Sprint(id)]; got != declined {
			t.Errorf("answered %s", got)
		}
		if e := next(t, s); e.Request == nil || e.Request.Params != nil {
			t.Errorf("%+v", e)
		}
	})
}

func TestRequestThatIsSentAgainIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer()
		decide := make(chan struct{})
		asked := 0
		c := start(t, peer, approve(func(context.Context, *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			asked++
			<-decide
			return accept, nil
		}))
		defer c.Close()
		id := peer.Ask(fileChange, ofThread)
		peer.AskAgain(id, fileChange, ofThread) // while it is open
		synctest.Wait()
		close(decide)
		answers(t, peer)
		peer.AskAgain(id, fileChange, ofThread) // while Codex has not seen the answer
		if got := answers(t, peer); asked != 1 || len(got) != 1 || got[fmt.Sprint(id)] != accepted {
			t.Errorf("asked %d times, answered %v", asked, got)
		}
		if s := c.Stats(); s.ServerRequests != 1 || s.RepeatedAsks != 2 {
			t.Errorf("%d asked, %d repeated", s.ServerRequests, s.RepeatedAsks)
		}
	})
}

func TestResolvedRequestEndsItsHandlerAndNeedsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer()
		var cause error
		c := start(t, peer, approve(func(ctx context.Context, _ *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return accept, nil
		}))
		defer c.Close()
		id := peer.Ask(fileChange, ofThread)
		other := peer.Ask(fileChange, ofThread)
		peer.Notify("serverRequest/resolved", map[string]any{"threadId": "T", "requestId": id})
		if got := answers(t, peer); len(got) != 0 || !errors.Is(cause, codex.ErrResolved) {
			t.Errorf("answered %v, cause %v", got, cause)
		}
		cause = nil
		peer.Notify("serverRequest/resolved", map[string]any{"threadId": "T", "requestId": "unknown"})
		_ = c.Close()
		if !errors.Is(cause, codex.ErrClosed) {
			t.Errorf("request %d ended with %v", other, cause)
		}
	})
}

func TestHandlerMayCallTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer(codextest.On("turn/steer").Answer(map[string]any{"turnId": "U"}))
		var c *codex.Client
		c = start(t, peer, approve(func(ctx context.Context, p *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			_, err := codex.Call(ctx, c, protocol.TurnSteerMethod, protocol.TurnSteerParams{ThreadID: p.ThreadID, ExpectedTurnID: p.TurnID, Input: []protocol.UserInput{}})
			return accept, err
		}))
		defer c.Close()
		var ids []string
		for range 100 {
			ids = append(ids, fmt.Sprint(peer.Ask(fileChange, ofThread)))
		}
		got := answers(t, peer)
		for _, id := range ids {
			if got[id] != accepted {
				t.Errorf("request %s: %s", id, got[id])
			}
		}
	})
}

func TestHandlerMayCloseTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer()
		var c *codex.Client
		c = start(t, peer, approve(func(context.Context, *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
			return accept, c.Close()
		}))
		peer.Ask(fileChange, ofThread)
		<-c.Done()
	})
}

func TestServerRequestKeepsAnyID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := []string{`-7`, `"text \" and \\ and é"`, `9223372036854775807`, `0`}
		r := codextest.On("thread/goal/get")
		for _, id := range ids {
			r.Raw(`{"method":"` + fileChange + `","id":` + id + `,"params":{"threadId":"T"}}` + "\n")
		}
		peer := codextest.NewPeer(r.Answer(map[string]any{}))
		c := start(t, peer, codex.Options{})
		defer c.Close()
		if _, err := codex.Call(t.Context(), c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: "T"}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for id := range answers(t, peer) {
			got = append(got, id)
		}
		slices.Sort(got)
		slices.Sort(ids)
		if strings.Join(got, " ") != strings.Join(ids, " ") {
			t.Errorf("answered %v, want %v", got, ids)
		}
	})
}

func TestServerRequestOverTheLineLimitIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer()
		c := start(t, peer, codex.Options{MaxLine: 100_000})
		defer c.Close()
		id := peer.Ask(fileChange, map[string]any{"threadId": "T", "reason": strings.Repeat("x", 200_000)})
		if got := answers(t, peer)[fmt.Sprint(id)]; got != declined {
			t.Errorf("answered %q", got)
		}
	})
}

package protocol_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// neverSeen are the messages that no scripted session has brought out of
// 0.160.1, with what is known about why.
var neverSeen = map[string]string{
	"account/chatgptAuthTokens/refresh": "needs a ChatGPT login and the network",
	"attestation/generate":              "only in requests to ChatGPT's own service",
	"applyPatchApproval":                "deprecated, for clients of the first protocol",
	"execCommandApproval":               "deprecated, for clients of the first protocol",

	"account/gatewayOAuth/changed":            "needs a provider with a login gateway",
	"app/list/updated":                        "needs apps, which need a ChatGPT login",
	"autoApprovalReview/strictReviewRequired": "a strict review of a command shows as item/autoApprovalReview",
	"model/safetyBuffering/updated":           "needs an answer of OpenAI's own service",
	"modelProvider/authRecoveryStarted":       "a 401 with a token command as login is retried in silence",
	"modelProvider/authRecoveryCompleted":     "a 401 with a token command as login is retried in silence",
	"item/fileChange/outputDelta":             "deprecated; Codex no longer sends it",
	"item/mcpToolCall/progress":               "Codex 0.160.1 gives MCP servers no progress token",
	"mcpServer/event/stream/notification":     "only for apps hosted by OpenAI",
	"mcpServer/oauthLogin/completed":          "needs an OAuth login in a browser",
	"thread/compacted":                        "deprecated; compaction shows as an item",
	"windows/worldWritableWarning":            "Windows alone",
}

// session is a script of one app-server that provokes messages.
type session struct {
	name     string
	settings map[string]string
	tables   string
	run      func(t *testing.T, s *appServer, home *codextest.Home)
}

func TestEveryMessageThatCanBeProvokedFitsItsType(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	t.Run("sessions", func(t *testing.T) {
		for _, row := range sessions {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				model := codextest.StartModel(t, onWord)
				home := codextest.TempHome(t, model, codextest.HomeOptions{Settings: row.settings, Tables: row.tables})
				s := startAppServer(t, home, j)
				s.initialize()
				row.run(t, s, home)
			})
		}
		t.Run("wire", func(t *testing.T) {
			t.Parallel()
			provokeByWire(t, j)
		})
		t.Run("voice", func(t *testing.T) {
			t.Parallel()
			provokeByVoice(t, j)
		})
	})
	j.report(t)

	var unseen []string
	seen := 0
	for m := range protocol.Methods() {
		if m.Direction != protocol.DirServerNotification && m.Direction != protocol.DirServerRequest {
			continue
		}
		reason, excused := neverSeen[m.Name]
		switch {
		case j.seen[m.Name] > 0 && excused:
			t.Errorf("%s was seen; take it off the list of those that never are (%s)", m.Name, reason)
		case j.seen[m.Name] > 0:
			seen++
		case !excused:
			unseen = append(unseen, m.Name)
		}
	}
	for name := range neverSeen {
		_, notification := protocol.LookupMethod(protocol.DirServerNotification, name)
		_, request := protocol.LookupMethod(protocol.DirServerRequest, name)
		if !notification && !request {
			t.Errorf("%s is no message of the server", name)
		}
	}
	if len(unseen) > 0 {
		t.Errorf("not provoked and not excused: %s", strings.Join(unseen, ", "))
	}
	t.Logf("%d kinds of messages seen and decoded strictly, %d never seen", seen, len(neverSeen))
}

// onWord is a model that does what the last word of the user says.
func onWord(r codextest.Request) codextest.Reply {
	if strings.Contains(string(r.Body), `"risk_level"`) { // the reviewer of approvals
		return codextest.Reply{codextest.Text(`{"risk_level":"low","user_authorization":"high","outcome":"allow","rationale":"fine"}`)}
	}
	last := r.Input[len(r.Input)-1]
	if strings.HasSuffix(last.Type, "_output") {
		return codextest.Reply{codextest.Text("done")}
	}
	for _, in := range slices.Backward(r.Input) {
		if in.Type != "message" || in.Role != "user" {
			continue
		}
		if reply, ok := words[in.Text]; ok {
			return reply
		}
		if strings.Contains(in.Text, "<objective>") {
			return codextest.Reply{codextest.UpdateGoal("complete")}
		}
	}
	return codextest.Reply{codextest.Text("nothing to do")}
}

var words = map[string]codextest.Reply{
	"run": {codextest.Call("exec_command", map[string]any{"cmd": "echo out; cat", "tty": true, "yield_time_ms": 300})},
	"type": {codextest.Compute(func(r codextest.Request) codextest.Reply {
		for _, in := range slices.Backward(r.Input) {
			if m := terminal.FindStringSubmatch(in.Text); m != nil {
				return codextest.Reply{codextest.Call("write_stdin", `{"session_id":`+m[1]+`,"chars":"in\n\u0004","yield_time_ms":300}`)}
			}
		}
		return codextest.Reply{codextest.Text("no terminal")}
	})},
	"patch":     {codextest.ApplyPatch("*** Begin Patch\n*** Add File: new.txt\n+text\n*** End Patch\n")},
	"move":      {codextest.ApplyPatch("*** Begin Patch\n*** Update File: new.txt\n*** Move to: moved.txt\n@@\n-text\n+other\n*** End Patch\n")},
	"escalate":  {codextest.ExecEscalated("true", "to see")},
	"permit":    {codextest.Call("request_permissions", map[string]any{"reason": "why not", "permissions": map[string]any{"network": map[string]any{"enabled": true}, "file_system": map[string]any{"read": []string{"/etc"}}}})},
	"ask":       {codextest.Ask(codextest.Question{ID: "q", Header: "h", Text: "which?", Options: []string{"a", "b"}})},
	"mcp":       {codextest.Item([]byte(`{"type":"function_call","id":"fc_mcp","call_id":"mcp","name":"ask","namespace":"mcp__probe","arguments":"{}"}`))},
	"dynamic":   {codextest.Call("dynamic", map[string]any{"a": 1})},
	"plan":      {codextest.ProposePlan("# plan\n- step")},
	"checklist": {codextest.Call("update_plan", map[string]any{"explanation": "e", "plan": []any{map[string]any{"step": "s", "status": "in_progress"}}})},
	"fail":      {codextest.ServerError()},
}

var terminal = regexp.MustCompile(`session ID (\d+)`)

// say starts a turn with one word and waits for its end.
func (s *appServer) say(thread, word string) {
	s.t.Helper()
	from := s.now()
	s.must("turn/start", fmt.Sprintf(`{"threadId":%q,"input":[{"type":"text","text":%q}]}`, thread, word))
	s.until(from, protocol.NotifyTurnCompleted)
}

func (s *appServer) thread(params string) string {
	s.t.Helper()
	return id(s.t, s.must("thread/start", params), "thread")
}

var sessions = []session{
	{"tools", map[string]string{"features.apply_patch_streaming_events": "true"}, "", func(t *testing.T, s *appServer, home *codextest.Home) {
		thread := s.thread(`{"approvalPolicy":"never","sandbox":"danger-full-access"}`)
		for _, word := range []string{"run", "type", "patch", "move", "fail"} {
			s.say(thread, word)
		}
	}},
	{"asks", map[string]string{"features.request_permissions_tool": "true", "features.default_mode_request_user_input": "true"},
		fmt.Sprintf("[mcp_servers.probe]\ncommand = %q\nenv = { %s = \"1\" }\n", os.Args[0], mcpEnvironment),
		func(t *testing.T, s *appServer, home *codextest.Home) {
			s.answer["item/commandExecution/requestApproval"] = `{"decision":"accept"}`
			s.answer["item/fileChange/requestApproval"] = `{"decision":"decline"}`
			s.answer["item/permissions/requestApproval"] = `{"permissions":{},"scope":"turn"}`
			s.answer["item/tool/requestUserInput"] = `{"answers":{"q":{"answers":["a"]}}}`
			s.answer["mcpServer/elicitation/request"] = `{"action":"accept","content":{"name":"x"}}`
			s.answer["item/tool/call"] = `{"contentItems":[{"type":"inputText","text":"x"}],"success":true}`
			thread := s.thread(`{"approvalPolicy":"on-request","sandbox":"workspace-write","dynamicTools":[{"type":"function","name":"dynamic","description":"d","inputSchema":{"type":"object","properties":{}}}]}`)
			for _, word := range []string{"escalate", "permit", "ask", "mcp", "dynamic"} {
				s.say(thread, word)
			}
			s.say(s.thread(`{"approvalPolicy":"on-request","sandbox":"read-only"}`), "patch")
			s.call("mcpServerStatus/list", `{"detail":"full"}`)
		}},
	{"clock", map[string]string{"features.current_time_reminder": `{ enabled = true, reminder_interval_seconds = 1, clock_source = "external" }`}, "",
		func(t *testing.T, s *appServer, home *codextest.Home) {
			s.answer["currentTime/read"] = `{"currentTimeAt":1700000000}`
			s.say(s.thread(`{}`), "hello")
		}},
	{"plans", map[string]string{"tools.update_plan.enabled": "true"}, "", func(t *testing.T, s *appServer, home *codextest.Home) {
		thread := s.thread(`{}`)
		s.say(thread, "checklist")
		from := s.now()
		s.must("thread/settings/update", fmt.Sprintf(`{"threadId":%q,"collaborationMode":{"mode":"plan","settings":{"model":"gpt-5.5"}}}`, thread))
		s.until(from, protocol.NotifyThreadSettingsUpdated)
		s.say(thread, "plan")
		from = s.now()
		s.must("thread/compact/start", fmt.Sprintf(`{"threadId":%q}`, thread))
		s.until(s.until(from, protocol.NotifyTurnCompleted)-1, protocol.NotifyTurnCompleted)
		s.must("thread/read", fmt.Sprintf(`{"threadId":%q,"includeTurns":true}`, thread))
		s.must("thread/timeline/list", fmt.Sprintf(`{"threadId":%q}`, thread))
		s.until(0, protocol.NotifyDeprecationNotice)
	}},
	{"goals", nil, "", func(t *testing.T, s *appServer, home *codextest.Home) {
		thread := s.thread(`{}`)
		s.must("thread/goal/set", fmt.Sprintf(`{"threadId":%q,"objective":"be done","status":"active"}`, thread))
		s.until(0, protocol.NotifyTurnCompleted)
		s.must("thread/goal/clear", fmt.Sprintf(`{"threadId":%q}`, thread))
		s.until(0, protocol.NotifyThreadGoalCleared)
	}},
	{"hooks", nil, "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"true\"\ntimeout = 10\n", func(t *testing.T, s *appServer, home *codextest.Home) {
		s.must("hooks/list", `{}`)
		s.say(s.thread(`{"sandbox":"danger-full-access","config":{"bypass_hook_trust":true}}`), "run")
	}},
	{"threads", nil, "", func(t *testing.T, s *appServer, home *codextest.Home) {
		thread := s.thread(`{}`)
		s.say(thread, "hello")
		project := id(t, s.must("project/create", fmt.Sprintf(`{"idempotencyKey":"k","name":"n","roots":[{"path":%q}]}`, home.Work)), "project")
		s.must("thread/metadata/update", fmt.Sprintf(`{"threadId":%q,"projectId":%q}`, thread, project))
		s.must("thread/name/set", fmt.Sprintf(`{"threadId":%q,"name":"n"}`, thread))
		s.must("thread/attachment/add", fmt.Sprintf(`{"threadId":%q,"attachmentType":"note","identityKey":"k","payload":{}}`, thread))
		from := s.now()
		s.must("thread/queue/add", fmt.Sprintf(`{"threadId":%q,"clientUserMessageId":"c","input":[{"type":"text","text":"hello"}]}`, thread))
		s.until(from, protocol.NotifyTurnCompleted)
		s.must("thread/revert", fmt.Sprintf(`{"threadId":%q,"beforeTurnId":%q}`, thread, s.lastTurn()))
		s.must("thread/archive", fmt.Sprintf(`{"threadId":%q}`, thread))
		s.must("thread/unarchive", fmt.Sprintf(`{"threadId":%q}`, thread))
		s.must("thread/delete", fmt.Sprintf(`{"threadId":%q}`, thread))
		s.until(0, protocol.NotifyThreadDeleted)
	}},
	{"host", nil, "", func(t *testing.T, s *appServer, home *codextest.Home) {
		s.must("fs/watch", fmt.Sprintf(`{"path":%q,"watchId":"w"}`, home.Work))
		s.must("fs/writeFile", fmt.Sprintf(`{"path":%q,"dataBase64":"eA=="}`, filepath.Join(home.Work, "file")))
		s.until(0, protocol.NotifyFsChanged)
		s.must("fuzzyFileSearch/sessionStart", fmt.Sprintf(`{"sessionId":"s","roots":[%q]}`, home.Work))
		s.must("fuzzyFileSearch/sessionUpdate", `{"sessionId":"s","query":"file"}`)
		s.until(0, protocol.NotifyFuzzyFileSearchSessionCompleted)
		s.must("command/exec", `{"processId":"p","streamStdoutStderr":true,"command":["echo","x"],"sandboxPolicy":{"type":"dangerFullAccess"}}`)
		s.must("process/spawn", fmt.Sprintf(`{"processHandle":"p","command":["echo","x"],"cwd":%q,"streamStdoutStderr":true}`, home.Work))
		s.until(0, protocol.NotifyProcessExited)
		s.must("skills/extraRoots/set", fmt.Sprintf(`{"extraRoots":[%q]}`, home.Work))
		s.must("externalAgentConfig/import", `{"migrationItems":[{"itemType":"CONFIG","description":"d"}]}`)
		s.until(0, protocol.NotifyExternalAgentConfigImportCompleted)
		s.must("windowsSandbox/setupStart", `{"mode":"unelevated"}`) // refuses by itself where there is no Windows
		s.until(0, protocol.NotifyWindowsSandboxSetupCompleted)
		s.must("account/login/start", `{"type":"apiKey","apiKey":"none"}`)
		s.until(0, protocol.NotifyAccountUpdated)
	}},
	{"reviews", nil, "", func(t *testing.T, s *appServer, home *codextest.Home) {
		s.say(s.thread(`{"approvalPolicy":"on-request","sandbox":"read-only","approvalsReviewer":"auto_review"}`), "escalate")
	}},
	{"unload", map[string]string{"thread_unload_delay_secs": "1"}, "", func(t *testing.T, s *appServer, home *codextest.Home) {
		s.must("thread/unsubscribe", fmt.Sprintf(`{"threadId":%q}`, s.thread(`{}`)))
		s.until(0, protocol.NotifyThreadClosed)
	}},
	{"far", nil, "", func(t *testing.T, s *appServer, home *codextest.Home) {
		url, stop := startExecServer(t, home, "ws://127.0.0.1:0")
		s.must("environment/add", fmt.Sprintf(`{"environmentId":"far","execServerUrl":%q}`, url))
		s.must("environment/info", `{"environmentId":"far"}`)
		thread := s.thread(fmt.Sprintf(`{"environments":[{"environmentId":"far","cwd":%q}]}`, home.Work))
		s.say(thread, "hello")
		from := s.now()
		stop()
		s.until(from, protocol.NotifyThreadEnvironmentDisconnected)
		_, stop = startExecServer(t, home, url)
		defer stop()
		s.say(thread, "run")
		s.until(from, protocol.NotifyThreadEnvironmentConnected)
	}},
}

// startExecServer runs the service that lends Codex a remote environment, and
// returns its address.
func startExecServer(t *testing.T, home *codextest.Home, listen string) (url string, stop func()) {
	t.Helper()
	cmd := exec.Command(codextest.Binary(t), "exec-server", "--listen", listen)
	cmd.Dir, cmd.Env = home.Work, home.Env()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(stop)
	url, err = bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("exec-server says no address: %v", err)
	}
	return strings.TrimSpace(url), stop
}

// lastTurn is the id of the turn that ended last.
func (s *appServer) lastTurn() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(s.seen) {
		if m.Method == protocol.NotifyTurnCompleted {
			return id(s.t, m.Params, "turn")
		}
	}
	s.t.Fatal("no turn has ended")
	return ""
}

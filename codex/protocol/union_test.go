package protocol_test

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/codex/protocol"
)

func raw(text string) *protocol.Unknown { return &protocol.Unknown{Raw: jsontext.Value(text)} }

// unions lists, by hand, what becomes of values of every kind of union.
var unions = []struct {
	name string
	in   string
	want any    // the union, by value
	out  string // what is written back, when it differs
}{
	// Strings or objects with one member.
	{"AskForApproval", `"on-request"`, protocol.AskForApproval{Arm: protocol.AskForApprovalOnRequest}, ""},
	{"AskForApproval", `"on-tuesdays"`, protocol.AskForApproval{Arm: protocol.AskForApprovalValue("on-tuesdays")}, ""},
	{"AskForApproval", `{"granular":{"mcp_elicitations":true,"rules":false,"sandbox_approval":true,"skill_approval":false}}`,
		protocol.AskForApproval{Arm: &protocol.AskForApprovalGranular{McpElicitations: true, SandboxApproval: true, SkillApproval: new(false)}}, ""},
	{"AskForApproval", `{"lenient":{"x":1}}`, protocol.AskForApproval{Arm: raw(`{"lenient":{"x":1}}`)}, ""},
	{"AskForApproval", `7`, protocol.AskForApproval{Arm: raw(`7`)}, ""},
	{"AskForApproval", `null`, protocol.AskForApproval{}, ""},
	{"CodexErrorInfo", `"usageLimitExceeded"`, protocol.CodexErrorInfo{Arm: protocol.CodexErrorInfoUsageLimitExceeded}, ""},
	{"CodexErrorInfo", `{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`,
		protocol.CodexErrorInfo{Arm: &protocol.CodexErrorInfoResponseTooManyFailedAttempts{HTTPStatusCode: new(uint16(429))}}, ""},
	{"CodexErrorInfo", `{"responseStreamDisconnected":{"httpStatusCode":null}}`,
		protocol.CodexErrorInfo{Arm: &protocol.CodexErrorInfoResponseStreamDisconnected{}}, `{"responseStreamDisconnected":{}}`},
	{"CodexErrorInfo", `{"activeTurnNotSteerable":{"turnKind":"compact"}}`,
		protocol.CodexErrorInfo{Arm: &protocol.CodexErrorInfoActiveTurnNotSteerable{TurnKind: protocol.NonSteerableTurnKindCompact}}, ""},
	{"CommandExecutionApprovalDecision", `"acceptForSession"`, protocol.CommandExecutionApprovalDecision{Arm: protocol.CommandExecutionApprovalDecisionAcceptForSession}, ""},
	{"CommandExecutionApprovalDecision", `{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["mkdir"]}}`,
		protocol.CommandExecutionApprovalDecision{Arm: &protocol.CommandExecutionApprovalDecisionAcceptWithExecpolicyAmendment{ExecpolicyAmendment: []string{"mkdir"}}}, ""},
	{"MultiAgentMode", `{"custom":"careful"}`, protocol.MultiAgentMode{Arm: &protocol.MultiAgentModeCustom{Value: "careful"}}, ""},
	{"MultiAgentMode", `"proactive"`, protocol.MultiAgentMode{Arm: protocol.MultiAgentModeProactive}, ""},
	{"ReviewDecision", `{"denied":{"rejection":"no"}}`, protocol.ReviewDecision{Arm: &protocol.ReviewDecisionDenied{Rejection: "no"}}, ""},
	{"ReviewDecision", `"timed_out"`, protocol.ReviewDecision{Arm: protocol.ReviewDecisionTimedOut}, ""},
	{"SessionSource", `"appServer"`, protocol.SessionSource{Arm: protocol.SessionSourceAppServer}, ""},
	{"SessionSource", `{"subAgent":{"other":"x"}}`,
		protocol.SessionSource{Arm: &protocol.SessionSourceSubAgent{Value: protocol.SubAgentSource{Arm: &protocol.SubAgentSourceOther{Value: "x"}}}}, ""},
	{"SessionSource", `{"note":1,"custom":"mine"}`, protocol.SessionSource{Arm: &protocol.SessionSourceCustom{Value: "mine"}}, `{"custom":"mine"}`},
	{"SubAgentSource", `{"thread_spawn":{"depth":2,"parent_thread_id":"p"}}`,
		protocol.SubAgentSource{Arm: &protocol.SubAgentSourceThreadSpawn{Depth: 2, ParentThreadID: "p"}}, ""},

	// Untagged.
	{"RequestId", `"abc"`, protocol.RequestId{Arm: protocol.RequestIdString("abc")}, ""},
	{"RequestId", `-9223372036854775808`, protocol.RequestId{Arm: protocol.RequestIdInteger(-1 << 63)}, ""},
	{"RequestId", `[]`, protocol.RequestId{Arm: raw(`[]`)}, ""},
	{"ForcedChatgptWorkspaceIds", `["a","b"]`, protocol.ForcedChatgptWorkspaceIds{Arm: protocol.ForcedChatgptWorkspaceIdsList{"a", "b"}}, ""},
	{"ForcedChatgptWorkspaceIds", `"a"`, protocol.ForcedChatgptWorkspaceIds{Arm: protocol.ForcedChatgptWorkspaceIdsString("a")}, ""},
	{"FunctionCallOutputBody", `"done"`, protocol.FunctionCallOutputBody{Arm: protocol.FunctionCallOutputBodyString("done")}, ""},
	{"FunctionCallOutputBody", `[{"type":"input_text","text":"x"}]`, protocol.FunctionCallOutputBody{Arm: protocol.FunctionCallOutputBodyList{
		{Arm: &protocol.FunctionCallOutputContentItemInputText{Text: "x"}}}}, ""},
	{"ThreadItemsListCursor", `"opaque"`, protocol.ThreadItemsListCursor{Arm: protocol.ThreadItemsListCursorString("opaque")}, ""},
	{"ThreadItemsListCursor", `{"type":"item","itemId":"i"}`, protocol.ThreadItemsListCursor{Arm: &protocol.ThreadItemsListAnchor{
		Arm: &protocol.ThreadItemsListAnchorItem{ItemID: "i"}}}, ""},
	{"ThreadListCwdFilter", `["/a"]`, protocol.ThreadListCwdFilter{Arm: protocol.ThreadListCwdFilterList{"/a"}}, ""},
	{"ResourceContent", `{"uri":"u","text":"t"}`, protocol.ResourceContent{Arm: &protocol.ResourceContentText{Text: "t", URI: "u"}}, ""},
	{"ResourceContent", `{"uri":"u","blob":"b"}`, protocol.ResourceContent{Arm: &protocol.ResourceContentBlob{Blob: "b", URI: "u"}}, ""},
	{"ResourceContent", `{"uri":"u","stream":"b"}`, protocol.ResourceContent{Arm: raw(`{"uri":"u","stream":"b"}`)}, ""},
	{"McpElicitationPrimitiveSchema", `{"type":"boolean"}`, protocol.McpElicitationPrimitiveSchema{
		Arm: &protocol.McpElicitationBooleanSchema{Type: protocol.McpElicitationBooleanTypeBoolean}}, ""},
	{"McpElicitationPrimitiveSchema", `{"type":"string","minLength":1}`, protocol.McpElicitationPrimitiveSchema{
		Arm: &protocol.McpElicitationStringSchema{Type: protocol.McpElicitationStringTypeString, MinLength: new(uint32(1))}}, ""},
	{"McpElicitationPrimitiveSchema", `{"type":"string","enum":["a"]}`, protocol.McpElicitationPrimitiveSchema{
		Arm: &protocol.McpElicitationEnumSchema{Arm: &protocol.McpElicitationSingleSelectEnumSchema{
			Arm: &protocol.McpElicitationUntitledSingleSelectEnumSchema{Type: protocol.McpElicitationStringTypeString, Enum: []string{"a"}}}}}, ""},
	{"McpElicitationPrimitiveSchema", `{"type":"string","enum":["a"],"enumNames":["A"]}`, protocol.McpElicitationPrimitiveSchema{
		Arm: &protocol.McpElicitationEnumSchema{
			Arm: &protocol.McpElicitationLegacyTitledEnumSchema{Type: protocol.McpElicitationStringTypeString, Enum: []string{"a"}, EnumNames: []string{"A"}}}}, ""},
	{"McpElicitationPrimitiveSchema", `{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`, protocol.McpElicitationPrimitiveSchema{
		Arm: &protocol.McpElicitationEnumSchema{Arm: &protocol.McpElicitationMultiSelectEnumSchema{
			Arm: &protocol.McpElicitationTitledMultiSelectEnumSchema{Type: protocol.McpElicitationArrayTypeArray,
				Items: protocol.McpElicitationTitledEnumItems{AnyOf: []protocol.McpElicitationConstOption{{Const: "a", Title: "A"}}}}}}}, ""},
	{"McpElicitationPrimitiveSchema", `{"type":"date"}`, protocol.McpElicitationPrimitiveSchema{Arm: raw(`{"type":"date"}`)}, ""},
	{"JSONRPCMessage", `{"method":"m"}`, protocol.JSONRPCMessage{Arm: &protocol.JSONRPCNotification{Method: "m"}}, ""},
	{"JSONRPCMessage", `{"id":1,"result":{}}`, protocol.JSONRPCMessage{Arm: &protocol.JSONRPCResponse{
		ID: protocol.RequestId{Arm: protocol.RequestIdInteger(1)}, Result: jsontext.Value(`{}`)}}, ""},
	{"JSONRPCMessage", `{"id":1,"error":{"code":-32600,"message":"m"}}`, protocol.JSONRPCMessage{Arm: &protocol.JSONRPCError{
		ID: protocol.RequestId{Arm: protocol.RequestIdInteger(1)}, Error: protocol.JSONRPCErrorError{Code: -32600, Message: "m"}}}, ""},

	// Tagged by kind, handlerType, method, mode, and by type.
	{"FileSystemSpecialPath", `{"kind":"project_roots","subpath":"x"}`, protocol.FileSystemSpecialPath{
		Arm: &protocol.FileSystemSpecialPathProjectRoots{Subpath: protocol.Some(protocol.LegacyAppPathString("x"))}}, ""},
	{"FileSystemSpecialPath", `{"kind":"attic"}`, protocol.FileSystemSpecialPath{Arm: raw(`{"kind":"attic"}`)}, ""},
	{"HookMetadata", `{"currentHash":"h","displayOrder":1,"enabled":true,"eventName":"preToolUse","isManaged":false,"key":"k","source":"user","sourcePath":"/x","timeoutSec":5,"trustStatus":"trusted","handlerType":"mcpTool","server":"s","tool":"t"}`,
		protocol.HookMetadata{CurrentHash: "h", DisplayOrder: 1, Enabled: true, EventName: protocol.HookEventNamePreToolUse, Key: "k", Source: protocol.HookSourceUser,
			SourcePath: "/x", TimeoutSec: 5, TrustStatus: protocol.HookTrustStatusTrusted, Arm: &protocol.HookMetadataMcpTool{Server: "s", Tool: "t"}}, ""},
	{"ServerNotification", `{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","items":[],"status":"inProgress"}},"emittedAtMs":5}`,
		protocol.ServerNotification{EmittedAtMs: new(int64(5)), Arm: &protocol.ServerNotificationTurnStarted{Params: protocol.TurnStartedNotification{
			ThreadID: "t", Turn: protocol.Turn{ID: "u", Items: []protocol.ThreadItem{}, Status: protocol.TurnStatusInProgress}}}}, ""},
	{"ClientRequest", `{"method":"thread/goal/get","id":3,"params":{"threadId":"t"}}`, protocol.ClientRequest{Arm: &protocol.ClientRequestThreadGoalGet{
		ID: protocol.RequestId{Arm: protocol.RequestIdInteger(3)}, Params: protocol.ThreadGoalGetParams{ThreadID: "t"}}}, ""},
	{"ThreadItem", `{"id":"i","text":"x","type":"plan"}`, protocol.ThreadItem{Arm: &protocol.ThreadItemPlan{ID: "i", Text: "x"}}, ""},
	{"ThreadItem", `{"id":"i","type":"hologram"}`, protocol.ThreadItem{Arm: raw(`{"id":"i","type":"hologram"}`)}, ""},
	{"ThreadItem", `{"id":"i"}`, protocol.ThreadItem{Arm: raw(`{"id":"i"}`)}, ""},
	{"ThreadItem", `{"id":"i","type":7}`, protocol.ThreadItem{Arm: raw(`{"id":"i","type":7}`)}, ""},
	{"ThreadStatus", `{"type":"idle"}`, protocol.ThreadStatus{Arm: &protocol.ThreadStatusIdle{}}, ""},
	{"ThreadStatus", `{"type":"active","activeFlags":["waitingOnApproval","waitingOnGodot"]}`, protocol.ThreadStatus{Arm: &protocol.ThreadStatusActive{
		ActiveFlags: []protocol.ThreadActiveFlag{protocol.ThreadActiveFlagWaitingOnApproval, "waitingOnGodot"}}}, ""},
	{"UserInput", `{"type":"image","url":"data:,x"}`, protocol.UserInput{Arm: &protocol.UserInputImage{URL: new("data:,x")}}, ""},
}

func TestUnionsHoldTheArmThatTheValueSays(t *testing.T) {
	for _, row := range unions {
		want := row.out
		if want == "" {
			want = row.in
		}
		for _, lib := range libraries {
			v := protocol.New(row.name)
			if err := lib.unmarshal([]byte(row.in), v); err != nil {
				t.Errorf("%s by %s from %s: %v", row.name, lib.name, row.in, err)
				continue
			}
			if got := reflect.ValueOf(v).Elem().Interface(); !reflect.DeepEqual(got, row.want) {
				t.Errorf("%s by %s from %s\n got %#v\nwant %#v", row.name, lib.name, row.in, got, row.want)
			}
			text, err := lib.marshal(row.want)
			if err != nil {
				t.Errorf("%s by %s: %v", row.name, lib.name, err)
				continue
			}
			if !equal(parse(t, text), parse(t, []byte(want))) {
				t.Errorf("%s by %s wrote %s, want %s", row.name, lib.name, text, want)
			}
		}
	}
}

func TestArmsOfTheWrongShapeAreErrorsNotPanics(t *testing.T) {
	for _, row := range []struct{ name, in string }{
		{"ThreadItem", `{"type":"plan","id":7,"text":"x"}`},
		{"AskForApproval", `{"granular":"all"}`},
		{"ServerNotification", `{"method":"turn/started","params":[]}`},
		{"ThreadStatus", `{"type":"active","activeFlags":{}}`},
		{"ThreadStatus", `{"type":"active"`},
		{"RequestId", `1.5`},
		{"RequestId", `99999999999999999999`},
	} {
		for _, lib := range libraries {
			if err := lib.unmarshal([]byte(row.in), protocol.New(row.name)); err == nil {
				t.Errorf("%s by %s accepted %s", row.name, lib.name, row.in)
			}
		}
		if err := protocol.Unmarshal([]byte(row.in), protocol.New(row.name)); err == nil {
			t.Errorf("%s accepted %s", row.name, row.in)
		}
	}
}

func TestAnUnionWithoutAnArmIsWrittenAsNull(t *testing.T) {
	for _, name := range []string{"ThreadItem", "AskForApproval", "RequestId", "ResourceContent"} {
		for _, lib := range libraries {
			text, err := lib.marshal(protocol.New(name))
			if err != nil || string(text) != "null" {
				t.Errorf("%s by %s: %s, %v", name, lib.name, text, err)
			}
		}
	}
}

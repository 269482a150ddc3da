package protocol_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// provokeByWire answers the model's requests with headers and events that the
// scripted model has no step for.
func provokeByWire(t *testing.T, j *judge) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		for name, value := range map[string]string{
			"Openai-Model":                   "gpt-other",
			"X-Codex-Primary-Used-Percent":   "12",
			"X-Codex-Primary-Window-Minutes": "300",
			"X-Codex-Primary-Reset-At":       "1800000000",
			"Content-Type":                   "text/event-stream",
		} {
			w.Header().Set(name, value)
		}
		events := wireEvents
		if requests.Add(1) > 1 {
			events = lastEvents
		}
		for _, event := range events {
			name, _, _ := strings.Cut(strings.TrimPrefix(event, `{"type":"`), `"`)
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, event)
		}
	}))
	defer server.Close()
	home, err := codextest.NewHome(t.TempDir(), server.URL+"/v1", codextest.HomeOptions{Settings: map[string]string{
		"show_raw_agent_reasoning":              "true",
		"features.apply_patch_streaming_events": "true",
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := startAppServer(t, home, j)
	s.initialize()
	thread := s.thread(`{}`)
	s.say(thread, "hello")
	s.must("thread/realtime/start", fmt.Sprintf(`{"threadId":%q,"outputModality":"text"}`, thread))
	s.until(0, protocol.NotifyThreadRealtimeError)
}

var wireEvents = []string{
	`{"type":"response.created","response":{"id":"r"}}`,
	`{"type":"response.metadata","headers":{},"metadata":{"openai_chatgpt_moderation_metadata":{"flags":[1,null]},"openai_verification_recommendation":["trusted_access_for_cyber"]}}`,
	`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}`,
	`{"type":"response.reasoning_summary_part.added","item_id":"rs","output_index":0,"summary_index":0}`,
	`{"type":"response.reasoning_summary_text.delta","item_id":"rs","output_index":0,"summary_index":0,"delta":"thinking"}`,
	`{"type":"response.reasoning_text.delta","item_id":"rs","output_index":0,"content_index":0,"delta":"raw"}`,
	`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"thinking"}],"content":[{"type":"reasoning_text","text":"raw"}]}}`,
	`{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}}}`,
	`{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"ct","call_id":"patch","name":"apply_patch","input":""}}`,
	`{"type":"response.custom_tool_call_input.delta","item_id":"ct","call_id":"patch","output_index":0,"delta":"*** Begin Patch\n*** Add File: new.txt\n+text\n"}`,
	`{"type":"response.custom_tool_call_input.delta","item_id":"ct","call_id":"patch","output_index":0,"delta":"+more\n*** End Patch\n"}`,
	`{"type":"response.output_item.done","output_index":0,"item":{"type":"custom_tool_call","id":"ct","call_id":"patch","name":"apply_patch","input":"*** Begin Patch\n*** Add File: new.txt\n+text\n+more\n*** End Patch\n"}}`,
	`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":5,"input_tokens_details":null,"output_tokens":2,"output_tokens_details":null,"total_tokens":7}}}`,
}

var lastEvents = []string{
	`{"type":"response.created","response":{"id":"r2"}}`,
	`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"hi"}]}}`,
	`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":5,"input_tokens_details":null,"output_tokens":2,"output_tokens_details":null,"total_tokens":7}}}`,
}

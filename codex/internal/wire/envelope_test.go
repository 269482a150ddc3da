package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEnvelopeFindsWhatDecides(t *testing.T) {
	for line, want := range map[string]Envelope{
		`{"method":"turn/started","params":{"threadId":"T","turn":{}},"emittedAtMs":1}`: {Kind: Notification, Method: b("turn/started"), Payload: b(`{"threadId":"T","turn":{}}`), thread: b("T")},
		`{"method":"thread/started","params":{"thread":{"x":[{"id":"no"}],"id":"T"}}}`:  {Kind: Notification, Method: b("thread/started"), Payload: b(`{"thread":{"x":[{"id":"no"}],"id":"T"}}`), thread: b("T")},
		`{"method":"initialized"}`:                                           {Kind: Notification, Method: b("initialized")},
		`{"id":1,"result":{}}`:                                               {Kind: Result, ID: b("1"), Payload: b("{}")},
		`{"id":1,"result":null}`:                                             {Kind: Result, ID: b("1"), Payload: b("null")},
		`{"error":{"code":-32600},"id":7}`:                                   {Kind: Failure, ID: b("7"), Payload: b(`{"code":-32600}`)},
		`{"id":"a","error":null,"result":1}`:                                 {Kind: Result, ID: b(`"a"`), Payload: b("1")},
		`{"method":"m","id":0,"params":{}}`:                                  {Kind: Request, ID: b("0"), Method: b("m"), Payload: b("{}")},
		`{"method":"m","id":null,"params":[]}`:                               {Kind: Notification, Method: b("m"), Payload: b("[]")},
		` { "method" : "m\u002fn" , "params" : { "threadId" : "\u0041" } } `: {Kind: Notification, Method: b("m/n"), Payload: b(`{ "threadId" : "\u0041" }`), thread: b("A")},
		`{"method":"m","params":{"a":"}\"{\\","threadId":"T"}}`:              {Kind: Notification, Method: b("m"), Payload: b(`{"a":"}\"{\\","threadId":"T"}`), thread: b("T")},
		`{"method":"m","params":{"threadId":7}}`:                             {Kind: Notification, Method: b("m"), Payload: b(`{"threadId":7}`)},
		`{"method":"m","params":{"turn":{"threadId":"inner"}}}`:              {Kind: Notification, Method: b("m"), Payload: b(`{"turn":{"threadId":"inner"}}`)},
		`{"id":-5,"result":1.5e3}`:                                           {Kind: Result, ID: b("-5"), Payload: b("1.5e3")},
	} {
		var e Envelope
		if err := e.Scan([]byte(line)); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if e.Kind != want.Kind || string(e.ID) != string(want.ID) || string(e.Method) != string(want.Method) ||
			string(e.Payload) != string(want.Payload) || string(e.Thread()) != string(want.thread) {
			t.Errorf("%s: got %v %s %s %s %s", line, e.Kind, e.ID, e.Method, e.Payload, e.Thread())
		}
	}
}

func b(s string) []byte { return []byte(s) }

func TestWhatIsNoFrameIsSaidToBeNone(t *testing.T) {
	for _, line := range []string{
		``, ` `, `x`, `123`, `"a"`, `[]`, `{`, `{}`, `{"a"}`, `{"a":}`, `{"a":1`, `{"a":1,}`, `{"method":"m"} {"method":"m"}`, `{"method":"m"}x`,
		`{"id":7}`, `{"id":1.5,"result":1}`, `{"id":{},"result":1}`, `{"id":99999999999999999999,"result":1}`, `{"id":true,"result":1}`,
		`{"method":7,"params":{}}`, `{"method":"m","params":{"a":"x}`, `{"id":null,"error":{"code":1}}`, "{\"method\":\"m\\\"}", `{"id":,"result":1}`,
	} {
		var e Envelope
		if err := e.Scan([]byte(line)); err == nil {
			t.Errorf("%q passed as %+v", line, e)
		}
	}
}

func TestBeginningOfALongLineTellsWhoseItIs(t *testing.T) {
	long := strings.Repeat("x", 100)
	for line, want := range map[string]Kind{
		`{"id":7,"result":{"a":"` + long + `"}}`:              Result,
		`{"error":{"message":"` + long + `"},"id":7}`:         0,
		`{"method":"m","id":7,"params":{"a":"` + long + `"}}`: Request,
		`{"method":"m","params":{"threadId":"T","a":"` + long: Notification,
		`{"result":{"a":"` + long + `"},"id":7}`:              0,
		`["` + long + `"]`:                                    0,
	} {
		var e Envelope
		err := e.ScanPrefix([]byte(line[:80]))
		if (want == 0) != (err != nil) || err == nil && e.Kind != want {
			t.Errorf("%s: kind %v, %v", line[:40], e.Kind, err)
		}
		if want == Result && string(e.ID) != "7" {
			t.Errorf("%s: id %s", line[:40], e.ID)
		}
	}
}

// What encoding/json takes for a message, the scan finds in the same way; and no line makes it panic.
func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{`{"method":"m","params":{"threadId":"T"}}`, `{"id":1,"result":[1,"\\"]}`, `{"error":{},"id":"x"}`, `{"a":"\"`, "{\"a\":\"\\", `{"method":"m","id":3,"params":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var e Envelope
		err := e.Scan(line)
		_ = new(Envelope).ScanPrefix(line)
		var m map[string]json.RawMessage
		if json.Unmarshal(line, &m) != nil || m == nil {
			return
		}
		var method string
		isMethod := json.Unmarshal(m["method"], &method) == nil && string(m["method"]) != "null"
		switch _, result := m["result"]; {
		case err != nil && isMethod && m["id"] == nil && strings.Count(string(line), `"method"`) == 1:
			t.Fatalf("%q: %v", line, err)
		case err == nil && e.Kind == Result && !result && !strings.Contains(string(line), `\`):
			t.Fatalf("%q passed as a result", line)
		}
	})
}

func TestGuessAgreesWithTheScan(t *testing.T) {
	for line, taken := range map[string]bool{
		`{"method":"turn/started","params":{"threadId":"T"},"emittedAtMs":12}`:                 true,
		`{"method":"m","params":{"a":1},"x":{"b":2},"emittedAtMs":12}`:                         true, // and then not confirmed
		`{"method":"m","params":{"a":1},"emittedAtMs":12},"emittedAtMs":12}`:                   true, // likewise
		`{"method":"m","params":{},"emittedAtMs":}`:                                            false,
		`{"method":"m","params":{},"emittedAtMs":1.5}`:                                         false,
		`{"method":"m","params":{},"emittedAtMs":-1}`:                                          false,
		`{"method":"m","id":1,"params":{},"emittedAtMs":1}`:                                    false,
		`{"method":"m","params":[],"emittedAtMs":1}`:                                           false,
		`{"method":"m\u002f","params":{},"emittedAtMs":1}`:                                     false,
		`{"method":"m","params":{`:                                                             false,
		`{"method":"`:                                                                          false,
		`{"method":"m","params":{}`:                                                            false,
		`}`:                                                                                    false,
		`{"method":"m","params":{"a":"},"emittedAtMs":1}`:                                      true,
		`{"id":1,"result":{"method":"m","params":{},"emittedAtMs":1}}`:                         false,
		`{"method":"m","params":{"x":[{"y":"z"}]},"emittedAtMs":1796047785157}`:                true,
		`{"method":"m","params":{"x":1},"emittedAtMs":1796047785157} `:                         false,
		`{"method":"m","params":{"x":1},"emittedAtMs":1796047785157,"id":5}`:                   false,
		`{"method":"m","params":{"x":1},"id":{},"emittedAtMs":1796047785157}`:                  true, // not confirmed
		`{"method":"m","params":{"x":1},"method":"n","params":{},"emittedAtMs":1796047785157}`: true, // not confirmed
	} {
		if checkGuess(t, []byte(line)) != taken {
			t.Errorf("%s: guessed %v", line, !taken)
		}
	}
}

// checkGuess fails unless a guess that a decoder would confirm is what the scan finds.
func checkGuess(t *testing.T, line []byte) bool {
	t.Helper()
	var guessed, scanned Envelope
	if !guessed.guess(line) {
		return false
	}
	if !json.Valid(guessed.Payload) {
		return true
	}
	if err := scanned.Scan(line); err != nil || scanned.Kind != Notification || string(scanned.Method) != string(guessed.Method) ||
		string(scanned.Payload) != string(guessed.Payload) || string(scanned.Thread()) != string(guessed.Thread()) {
		t.Fatalf("%q: guessed %s %s, scanned %s %s, %v", line, guessed.Method, guessed.Payload, scanned.Method, scanned.Payload, err)
	}
	return true
}

func FuzzGuess(f *testing.F) {
	f.Add("turn/started", `{"threadId":"T"}`, "12")
	f.Add("m", `{"a":"},\"emittedAtMs\":1"`, "1")
	f.Fuzz(func(t *testing.T, method, params, at string) {
		if !strings.ContainsAny(method, "\"\\") {
			checkGuess(t, []byte(`{"method":"`+method+`","params":`+params+`,"emittedAtMs":`+at+`}`))
		}
		checkGuess(t, []byte(params))
	})
}

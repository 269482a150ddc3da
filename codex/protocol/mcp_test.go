package protocol_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// mcpEnvironment makes the test binary an MCP server on stdio when it is set.
const mcpEnvironment = "PROTOCOL_TEST_MCP"

// serveMCP is an MCP server with one tool, which reports progress, asks the user
// a question of every kind and returns what it heard.
func serveMCP(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var call json.RawMessage
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				ProtocolVersion string `json:"protocolVersion"`
				Meta            struct {
					ProgressToken json.RawMessage `json:"progressToken"`
				} `json:"_meta"`
			} `json:"params"`
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			return
		}
		answer := func(result string) { fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result) }
		switch {
		case m.Method == "initialize":
			answer(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"probe","version":"1"}}`, m.Params.ProtocolVersion))
		case m.Method == "tools/list":
			answer(`{"tools":[{"name":"ask","description":"asks","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}}]}`)
		case m.Method == "tools/call":
			call = m.ID
			if m.Params.Meta.ProgressToken != nil {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2,"message":"half"}}`+"\n", m.Params.Meta.ProgressToken)
			}
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":900,"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","required":["name"],"properties":{`+
				`"name":{"type":"string","minLength":1},"sure":{"type":"boolean","default":true},"age":{"type":"integer","minimum":1},`+
				`"one":{"type":"string","enum":["a","b"]},"titled":{"type":"string","oneOf":[{"const":"a","title":"A"}]},`+
				`"many":{"type":"array","items":{"type":"string","enum":["a","b"]}},"legacy":{"type":"string","enum":["a"],"enumNames":["A"]}}}}}`)
		case string(m.ID) == "900":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"heard"}],"structuredContent":{"heard":%s}}}`+"\n", call, m.Result)
		case m.ID != nil && m.Method != "":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", m.ID)
		}
	}
}

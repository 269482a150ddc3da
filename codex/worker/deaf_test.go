package worker_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// deafEnv names the file in which an MCP server that this test binary plays writes
// down its process id.
const deafEnv = "CODEXCTL_TEST_DEAF"

// deaf is an MCP server without tools that heeds neither SIGTERM nor the end of its
// input.
func deaf(file string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	_ = os.WriteFile(file, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				ProtocolVersion string `json:"protocolVersion"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &asked) != nil || asked.ID == nil {
			continue
		}
		result := map[string]any{"tools": []any{}}
		if asked.Method == "initialize" {
			result = map[string]any{
				"protocolVersion": asked.Params.ProtocolVersion,
				"capabilities":    map[string]any{"tools": map[string]any{}},
				"serverInfo":      map[string]any{"name": "deaf", "version": "1"},
			}
		}
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"jsonrpc": "2.0", "id": asked.ID, "result": result})
	}
	for {
		time.Sleep(time.Hour) // a select without cases would be a deadlock, and end it
	}
}

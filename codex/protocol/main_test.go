package protocol_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(mcpEnvironment) != "" {
		serveMCP(os.Stdin, os.Stdout)
		return
	}
	goleak.VerifyTestMain(m)
}

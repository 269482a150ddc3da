package worker_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if moment, ok := os.LookupEnv(childEnv); ok {
		fmt.Fprintln(os.Stderr, child(moment)) // it has not died, which is the fault
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

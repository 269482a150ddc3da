package worker_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary runs itself as another owner: one that holds a key, or one that
// dies in the middle of a mutation.
func TestMain(m *testing.M) {
	if file, ok := os.LookupEnv(deafEnv); ok {
		deaf(file)
	}
	if moment, ok := os.LookupEnv(childEnv); ok {
		fmt.Fprintln(os.Stderr, child(moment)) // it has not died, which is the fault
		os.Exit(1)
	}
	if _, ok := os.LookupEnv(holdEnv); ok {
		if err := hold(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

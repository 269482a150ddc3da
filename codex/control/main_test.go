package control

import (
	"fmt"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// intruderEnv makes the test binary a process that connects to the socket it
// names, asks for the status and tells what it got.
const intruderEnv = "CONTROL_TEST_INTRUDER"

func TestMain(m *testing.M) {
	if path := os.Getenv(intruderEnv); path != "" {
		fmt.Print(intrude(path))
		return
	}
	goleak.VerifyTestMain(m)
}

func intrude(path string) string {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return "cannot connect: " + err.Error()
	}
	defer conn.Close()
	_, writeErr := conn.Write([]byte(line("x", Status)))
	n, err := conn.Read(make([]byte, 1))
	if n > 0 {
		return "was answered"
	}
	return fmt.Sprint("was dropped: ", err, writeErr)
}

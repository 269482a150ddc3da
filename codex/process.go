package codex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/codexctl/codexctl/codex/internal/outer"
	"github.com/codexctl/codexctl/codex/internal/wire"
	"golang.org/x/sys/unix"
)

// drainTime is how long the pipes are still read after the app-server is gone. Whatever it wrote is there already; only a
// process it has left behind can hold them open.
const drainTime = 500 * time.Millisecond

// ExitError says that the app-server ended without being asked to, or in another way than it was.
type ExitError struct {
	State  *os.ProcessState // nil if even that could not be learnt
	Stderr string           // its own error, else the last of its stderr; without colours and stack frames
	Err    error            // what waiting for it said; nil if it ended with 0
}

func (e *ExitError) Error() string {
	msg := "codex app-server ended"
	if e.State != nil {
		msg += ": " + e.State.String()
	}
	if e.Stderr != "" {
		msg += "\n" + e.words()
	}
	return msg
}

func (e *ExitError) words() string { return "its last words on stderr were:\n" + e.Stderr }

func (e *ExitError) Unwrap() error { return e.Err }

// process is an app-server child process with a process group of its own.
type process struct {
	cmd        *exec.Cmd
	executable image
	id         ProcessID
	stdin      *os.File
	raw        syscall.RawConn // of stdin
	stdout     *os.File
	output     syscall.RawConn // stdout
	stderr     tail
	reaped     atomic.Bool
	done       chan struct{}
	err        error // set before done is closed

	mu      sync.Mutex
	drained bool // stdout was found empty, and all that came before has been dealt with
}

// spawn starts `codex app-server`. ctx bounds nothing but the start itself.
func spawn(ctx context.Context, path string, o *Options) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	executable, err := imageOf(path)
	if err != nil {
		return nil, fmt.Errorf("start %s app-server: %w", path, err)
	}
	cmd := exec.Command(path, append([]string{"app-server"}, o.Args...)...)
	cmd.Dir = o.Dir
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	cmd.Env = outer.Environ(env)
	// A group of its own: a Ctrl-C at the terminal is for us to handle, and Kill reaches the commands that Codex runs.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	var theirs, ours []*os.File
	pipe := func(childReads bool) (child, parent *os.File, err error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil, err
		}
		child, parent = w, r
		if childReads {
			child, parent = r, w
		}
		theirs, ours = append(theirs, child), append(ours, parent)
		return child, parent, nil
	}
	stdin, in, err1 := pipe(true)
	stdout, out, err2 := pipe(false)
	stderr, diag, err3 := pipe(false)
	err = errors.Join(err1, err2, err3)
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
		err = cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		for _, f := range ours {
			_ = f.Close()
		}
		return nil, fmt.Errorf("start %s app-server: %w", path, err)
	}
	raw, err1 := in.SyscallConn()
	output, err2 := out.SyscallConn()
	if err := errors.Join(err1, err2); err != nil {
		panic("codex: a pipe is no file: " + err.Error())
	}
	p := &process{cmd: cmd, executable: executable, stdin: in, raw: raw, stdout: out, output: output, done: make(chan struct{})}
	// The child cannot vanish before it is waited for, so its start time is there to be read.
	if p.id, err = IdentifyProcess(cmd.Process.Pid); err != nil {
		p.id = ProcessID{PID: cmd.Process.Pid}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(&p.stderr, diag)
	}()
	go func() {
		err := cmd.Wait()
		if err != nil {
			// It could not see to the commands it was running. Its group keeps the number as long as one of them lives.
			_ = syscall.Kill(-p.id.PID, syscall.SIGKILL)
		}
		p.reaped.Store(true)
		until := time.Now().Add(drainTime)
		_ = out.SetReadDeadline(until)
		_ = diag.SetReadDeadline(until)
		<-drained
		_ = diag.Close()
		p.err = &ExitError{State: cmd.ProcessState, Stderr: lastWords(p.stderr.String()), Err: err}
		close(p.done)
	}()
	return p, nil
}

// Read is called when all that was read before has been dealt with, and notes in one step with the reading whether there
// was nothing more: see Pending.
func (p *process) Read(b []byte) (n int, err error) {
	failed := p.output.Read(func(fd uintptr) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for {
			if n, err = syscall.Read(int(fd), b); err != syscall.EINTR {
				break
			}
		}
		p.drained = err == syscall.EAGAIN
		return !p.drained
	})
	switch {
	case failed != nil && !errors.Is(failed, os.ErrDeadlineExceeded) && !errors.Is(failed, os.ErrClosed):
		return 0, failed
	case failed != nil, n == 0 && err == nil && len(b) > 0:
		return 0, io.EOF
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	}
	return n, nil
}

// Pending reports whether something that the app-server has written waits to be read, or was read and not yet dealt with.
func (p *process) Pending() (pending bool) {
	_ = p.output.Control(func(fd uintptr) {
		p.mu.Lock()
		defer p.mu.Unlock()
		pending = !p.drained
		for !pending {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			pending = n > 0
			if err != unix.EINTR {
				break
			}
		}
	})
	return pending
}

func (p *process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// TryWrite relies on the pipe: a write of at most atomicWrite bytes goes in whole or not at all.
func (p *process) TryWrite(b []byte) (err error) {
	failed := p.raw.Write(func(fd uintptr) bool {
		for {
			if _, err = syscall.Write(int(fd), b); err != syscall.EINTR {
				return true // done, whatever came of it: we do not wait
			}
		}
	})
	switch {
	case failed != nil:
		return failed
	case err == syscall.EAGAIN:
		return wire.ErrWouldWait
	case err != nil:
		return os.NewSyscallError("write", err)
	}
	return nil
}

func (p *process) SetWriteDeadline(t time.Time) error { return p.stdin.SetWriteDeadline(t) }
func (p *process) CloseWrite() error                  { return p.stdin.Close() }
func (p *process) Terminate() error                   { return p.signal(syscall.SIGTERM) }
func (p *process) Done() <-chan struct{}              { return p.done }
func (p *process) Process() ProcessID                 { return p.id }

// Kill ends the whole process group: also the commands that Codex has started and not moved elsewhere.
func (p *process) Kill() error { return p.signal(syscall.SIGKILL) }

func (p *process) signal(s syscall.Signal) error {
	if p.reaped.Load() { // the pid may be another's by now
		return nil
	}
	target := p.id.PID
	if s == syscall.SIGKILL {
		target = -target
	}
	if err := syscall.Kill(target, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal app-server %d: %w", p.id.PID, err)
	}
	return nil
}

func (p *process) Err() error {
	<-p.done
	return p.err
}

// CloseRead may be called once reading has ended; it lets go of the pipe.
func (p *process) CloseRead() error { return p.stdout.Close() }

// lastWords is what a person needs of the end of a stderr. Codex ends for a reason with "Error: …", the causes, and a stack
// backtrace of frames that its release build cannot name.
func lastWords(text string) string {
	const most = 12
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "Error: "):
			lines = lines[:0]
		case line == "Stack backtrace:" || line == "stack backtrace:" || strings.HasSuffix(line, ": <unknown>"):
			continue
		}
		lines = append(lines, line)
	}
	text = strings.TrimSpace(strings.Join(lines, "\n"))
	lines = strings.Split(text, "\n")
	if strings.HasPrefix(text, "Error: ") {
		return strings.Join(lines[:min(len(lines), most)], "\n")
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

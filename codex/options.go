package codex

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/codexctl/codexctl/codex/internal/wire"
)

// Options says how [Start] finds, starts and treats an app-server. The zero value is useful.
type Options struct {
	// Path is the Codex executable; empty lets [FindExecutable] look for it.
	Path string
	// Args follow `app-server` on its command line, such as -c key=value.
	Args []string
	// Dir is the working directory of the process, empty for the current one. Threads name their own.
	Dir string
	// Env is the environment of the process, each entry as KEY=value. It replaces that of the current process and is not
	// added to it: without HOME or CODEX_HOME in it Codex looks elsewhere for its home. Nil takes that of the current process.
	// What an outer Codex marks its commands with is left out either way: CODEX_THREAD_ID, CODEX_NETWORK_PROXY_ACTIVE and all
	// that begins with CODEX_SANDBOX, CODEX_INTERNAL_ or CODEX_MANAGED_.
	Env []string
	// Client is how this program calls itself to Codex.
	Client ClientInfo
	// NoExperimental leaves out the experimentalApi capability. Codex then refuses experimental methods and fields.
	NoExperimental bool
	// OptOut lists notification methods that the app-server is not to send at all.
	OptOut []string

	// CallTimeout is the time from a call to its outcome (0: 30 s), SlowCallTimeout that of the methods that start threads
	// and turns or read histories (0: 120 s). [WithTimeout] replaces either for one call.
	CallTimeout     time.Duration
	SlowCallTimeout time.Duration
	// HandlerTimeout is how long a handler may take, which is how long a person may think (0: 10 min). Then its context ends
	// with [ErrHandlerTimeout], and when it has not answered 5 s later the request gets the safe refusal of its kind.
	HandlerTimeout time.Duration
	// CloseTimeout is how long each step of Close waits for the process to end before the next, firmer one (0: 5 s).
	CloseTimeout time.Duration

	// MaxLine is the longest line that is read, in bytes (0: 256 MiB).
	MaxLine int
	// MaxInFlight is how many requests may wait for a response (0: 64). 0.160.1 answers 128 at a time, refuses some of 160
	// and forgets some of 512. Two of them are kept for thread/goal/* and turn/interrupt.
	MaxInFlight int

	// Handlers answer the server's requests.
	Handlers ServerHandlers
	// Logger gets what is worth a look but not an error to anybody, most of it on the goroutine that reads, so it must not
	// block. What comes again and again is logged the 1st, 2nd, 4th, 8th … time. Nil discards all.
	Logger *slog.Logger
	// Trace gets every frame of both directions as one JSON line, secrets masked. It is written to by one goroutine. A
	// writer that cannot keep up loses frames, which is said in the trace; it never holds up the connection, and Close for a second at most.
	Trace io.Writer

	// Dial supplies the app-server instead of starting one; Path, Args, Dir and Env are not used then.
	Dial func(context.Context) (Transport, error)
}

// ClientInfo is how a program calls itself. Codex puts the name at the head of its userAgent.
type ClientInfo struct {
	Name    string // empty: codexctl
	Title   string // for people; may be empty
	Version string // empty: the version of the main module
}

const (
	defaultCallTimeout     = 30 * time.Second
	defaultSlowCallTimeout = 120 * time.Second
	defaultHandlerTimeout  = 10 * time.Minute
	defaultCloseTimeout    = 5 * time.Second
	defaultMaxInFlight     = 64
)

func (o Options) withDefaults() Options {
	orDuration(&o.CallTimeout, defaultCallTimeout)
	orDuration(&o.SlowCallTimeout, defaultSlowCallTimeout)
	orDuration(&o.HandlerTimeout, defaultHandlerTimeout)
	orDuration(&o.CloseTimeout, defaultCloseTimeout)
	if o.MaxLine <= 0 {
		o.MaxLine = wire.DefaultMaxLine
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = defaultMaxInFlight
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Client.Name == "" {
		o.Client.Name = "codexctl"
	}
	if o.Client.Version == "" {
		o.Client.Version = moduleVersion()
	}
	return o
}

func orDuration(d *time.Duration, otherwise time.Duration) {
	if *d <= 0 {
		*d = otherwise
	}
}

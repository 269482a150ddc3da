package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// streams is where a command reads and writes. Results go to out, everything
// else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer

	env func(string) string // looks an environment variable up; "" is unset
	tty terminal
}

// terminal says which streams are one, and how to ask for its size.
type terminal struct {
	in, out, err bool
	columns      func() int // of the terminal; 0 is not known
}

func systemStreams() streams {
	out := int(os.Stdout.Fd())
	return streams{
		in:  os.Stdin,
		out: os.Stdout,
		err: os.Stderr,
		env: os.Getenv,
		tty: terminal{
			in:  term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
			out: term.IsTerminal(out),
			err: term.IsTerminal(int(os.Stderr.Fd())),
			columns: func() int {
				for _, fd := range []int{out, int(os.Stderr.Fd())} {
					if columns, _, err := term.GetSize(fd); err == nil {
						return columns
					}
				}
				return 0
			},
		},
	}
}

// colour reports whether output may be coloured: on a terminal that can, unless
// NO_COLOR says otherwise.
func (s streams) colour() bool {
	return s.tty.out && s.env("NO_COLOR") == "" && s.env("TERM") != "dumb"
}

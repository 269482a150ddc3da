package main

import (
	"io"
	"os"
)

// streams is where a command reads and writes. Results go to out, everything
// else to err.
type streams struct {
	in       io.Reader
	out, err *outlet

	env func(string) string // looks an environment variable up; "" is unset
	tty terminal
}

func systemStreams() streams {
	return streams{in: os.Stdin, out: &outlet{w: os.Stdout}, err: &outlet{w: os.Stderr}, env: os.Getenv, tty: systemTerminal()}
}

// colour reports whether output may be coloured: on a terminal that can, unless
// NO_COLOR says otherwise.
func (s streams) colour() bool {
	return s.tty.out && s.env("NO_COLOR") == "" && s.env("TERM") != "dumb"
}

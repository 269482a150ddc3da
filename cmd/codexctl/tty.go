package main

import (
	"context"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal says which streams are one, and how to use it.
type terminal struct {
	in, out, err bool
	columns      func() int // 0 is not known

	// drain drops what was typed before now; line waits for the next line. A
	// process that waits for none does not read, so it may be put in the
	// background.
	drain func()
	line  func(ctx context.Context) (string, error)
}

func systemTerminal() terminal {
	in, out, err := int(os.Stdin.Fd()), int(os.Stdout.Fd()), int(os.Stderr.Fd())
	return terminal{
		in:  term.IsTerminal(in) && term.IsTerminal(err) && foreground(in),
		out: term.IsTerminal(out),
		err: term.IsTerminal(err) && foreground(err),
		columns: func() int {
			for _, fd := range []int{out, err} {
				if columns, _, err := term.GetSize(fd); err == nil {
					return columns
				}
			}
			return 0
		},
		drain: func() { drainInput(in) },
		line:  func(ctx context.Context) (string, error) { return readLine(ctx, os.Stdin) },
	}
}

// foreground reports whether this process may read the terminal; in the
// background the system would stop it.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// readLine waits for a line without holding on to the terminal: a read that has
// begun cannot be called off, so it begins when there is something to read.
func readLine(ctx context.Context, f *os.File) (string, error) {
	fd := int(f.Fd())
	for {
		var set unix.FdSet
		set.Set(fd)
		n, err := unix.Select(fd+1, &set, nil, nil, &unix.Timeval{Usec: 100_000})
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err == unix.EINTR || err == nil && n == 0:
			continue
		case err != nil:
			return "", err
		}
		line := make([]byte, 4096)
		k, err := f.Read(line)
		if err != nil {
			return "", err
		}
		text, _, _ := strings.Cut(string(line[:k]), "\n")
		return text, nil
	}
}

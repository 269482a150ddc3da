package main

import "golang.org/x/sys/unix"

// drainInput drops what was typed and not read yet; 1 is the side that is read.
func drainInput(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) }

package main

import "golang.org/x/sys/unix"

// drainInput drops what was typed and not read yet.
func drainInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }

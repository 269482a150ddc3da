package main

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// tinyDisk runs a shell script that finds a file system of $TINY bytes at the
// directory of its first argument. Mounting takes a name space of our own, as
// Codex's sandbox does. The words remount and rw or ro in place of the script
// change what is mounted.
func tinyDisk() {
	dir := os.Args[1]
	if os.Args[2] == "remount" {
		flags := uintptr(unix.MS_REMOUNT)
		if os.Args[3] == "ro" {
			flags |= unix.MS_RDONLY
		}
		exitLike(unix.Mount("none", dir, "tmpfs", flags, "size="+os.Getenv("TINY")))
	}
	if os.Getenv("TINY_INSIDE") == "" {
		cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
		cmd.Args[0] = os.Args[0]
		cmd.Env = append(os.Environ(), "TINY_INSIDE=1")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
		}
		exitLike(cmd.Run())
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, "mode=0700,size="+os.Getenv("TINY")); err != nil {
		exitLike(err)
	}
	cmd := exec.Command("sh", os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	exitLike(cmd.Run())
}

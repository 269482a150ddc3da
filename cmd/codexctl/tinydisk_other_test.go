//go:build !linux

package main

// tinyDisk is for linux; scripts ask for it there alone.
func tinyDisk() {}

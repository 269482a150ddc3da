package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// How many bytes may wait for a reader, by what is to be added to them. A reader
// that takes nothing holds nothing up: what is beyond the limit is left out, and
// said to be, but for lines that must not be missing.
const (
	roomForPieces = 1 << 20  // pieces of messages and counts, which are told whole later
	roomForItems  = 16 << 20 // items, which Codex keeps
	roomForAll    = 64 << 20 // anything; beyond this the reader is given up
)

// outbox writes to streams on a goroutine of its own, in the order in which it was
// given things, and never holds up whoever gives it something.
type outbox struct {
	patience time.Duration // for a reader at the end; for whoever made the outbox

	wake  chan struct{} // something was added
	moved chan struct{} // something was written, or never will be

	mu    sync.Mutex
	queue []parcel
	bytes int   // in queue, and what is being written
	err   error // of the first write that failed, or errUnread; nothing is written after it
}

type parcel struct {
	to   io.Writer
	text []byte
}

// errUnread is a reader that has been given up.
var errUnread = fmt.Errorf("nobody reads the output: %d MiB wait", roomForAll>>20)

func newOutbox() *outbox {
	o := &outbox{patience: lastPatience, wake: make(chan struct{}, 1), moved: make(chan struct{}, 1)}
	go o.run()
	return o
}

// add puts text in the queue, unless more than room bytes would wait then. An error
// is that of an earlier write.
func (o *outbox) add(to io.Writer, text []byte, room int) (taken bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return false, o.err
	case len(text) == 0:
		return true, nil
	case o.bytes+len(text) > roomForAll:
		o.err = errUnread
		return false, o.err
	case o.bytes+len(text) > room:
		return false, nil
	}
	o.queue = append(o.queue, parcel{to, append([]byte{}, text...)})
	o.bytes += len(text)
	signalTo(o.wake)
	return true, nil
}

// waiting is how many bytes have not been written, and why no more will be.
func (o *outbox) waiting() (bytes int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes, o.err
}

// run writes what is added, for as long as the process lives: a write that blocks
// cannot be called off.
func (o *outbox) run() {
	for range o.wake {
		for {
			p, ok := o.take()
			if !ok {
				break
			}
			o.write(p)
		}
	}
}

func (o *outbox) take() (parcel, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || len(o.queue) == 0 {
		return parcel{}, false
	}
	p := o.queue[0]
	o.queue = o.queue[1:]
	return p, true
}

// write writes a parcel in pieces, so that a slow reader is seen to read.
func (o *outbox) write(p parcel) {
	const most = 16 << 10
	for len(p.text) > 0 {
		n := min(len(p.text), most)
		_, err := p.to.Write(p.text[:n])
		p.text = p.text[n:]
		o.mu.Lock()
		o.bytes -= n
		if err != nil {
			o.err = err
			p.text = nil
		}
		o.mu.Unlock()
		signalTo(o.moved)
	}
}

// flush waits until everything is written. It gives up when the reader has taken
// nothing for so long, or with an interruption.
func (o *outbox) flush(patience time.Duration, interrupted <-chan struct{}) error {
	for {
		bytes, err := o.waiting()
		if err != nil || bytes == 0 {
			return err
		}
		select {
		case <-o.moved:
		case <-time.After(patience):
			return fmt.Errorf("nobody read the last %d bytes of output", bytes)
		case <-interrupted:
			return errors.New("interrupted before all output was read")
		}
	}
}

func signalTo(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

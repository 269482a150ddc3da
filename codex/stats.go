package codex

import "sync/atomic"

// Stats counts what has passed over a connection so far.
type Stats struct {
	Received      uint64 // frames
	ReceivedBytes uint64 // bytes of lines received, noise included
	Sent          uint64 // frames
	SentBytes     uint64 // bytes of lines sent
	StderrBytes   uint64 // bytes of the app-server's stderr

	UnknownMethods  uint64 // notifications and server requests of methods that this version does not know
	Undecodable     uint64 // notifications whose params do not have the shape of their type
	LateReplies     uint64 // responses to requests that had been given up, and second responses
	UnknownReplies  uint64 // responses with an id that was never used
	Noise           uint64 // lines that were no frame
	TooLong         uint64 // lines over Options.MaxLine
	Dropped         uint64 // events that a slow subscriber did not get; one event counts once for each
	ServerRequests  uint64 // requests of the server's, those sent again not counted
	RepeatedAsks    uint64 // server requests that were sent again and not asked again
	Refused         uint64 // server requests that got the safe refusal
	Retries         uint64 // reads sent again after the server was overloaded
	InFlight        int    // requests sent and not answered
	Waiting         int    // requests not yet sent
	TraceLostFrames uint64 // frames that Options.Trace did not get because it was too slow
}

type counters struct {
	received, receivedBytes, sent, sentBytes   atomic.Uint64
	unknown, undecodable, late, stray          atomic.Uint64
	noise, tooLong, dropped                    atomic.Uint64
	asked, askedAgain, refused, retries, blind atomic.Uint64
}

func (c *counters) read() Stats {
	return Stats{
		Received: c.received.Load(), ReceivedBytes: c.receivedBytes.Load(),
		Sent: c.sent.Load(), SentBytes: c.sentBytes.Load(),
		UnknownMethods: c.unknown.Load(), Undecodable: c.undecodable.Load(),
		LateReplies: c.late.Load(), UnknownReplies: c.stray.Load(),
		Noise: c.noise.Load(), TooLong: c.tooLong.Load(), Dropped: c.dropped.Load(),
		ServerRequests: c.asked.Load(), RepeatedAsks: c.askedAgain.Load(), Refused: c.refused.Load(),
		Retries: c.retries.Load(), TraceLostFrames: c.blind.Load(),
	}
}

package wire

// Receiver takes what comes in. All methods are called from one goroutine, in wire order, and must not block. The bytes of
// an envelope are good only during the call, unless owned is true.
type Receiver interface {
	// Notification is a frame with a method and no id. Its params may not be JSON; a decoder will tell. When guessed, all
	// that is known is how the line begins and ends: unless the receiver has found the params to be one JSON value it
	// returns false, without having done anything, and is called again after a closer look.
	Notification(e *Envelope, guessed bool) (sound bool)
	// Request is a request of the server's, to be answered with [Stream.Answer] or [Stream.Refuse].
	Request(e *Envelope)
	// Reply is the first response to the request that was sent with tag.
	Reply(tag any, e *Envelope, owned bool)
	// Stray is a response that no pending request matches. If ours, the id was used once: the response is late or double.
	Stray(e *Envelope, ours bool)
	// TooLong is a line over the limit. e is what its beginning tells, with a cut payload, and nil if that is nothing; tag
	// is set if the line answers a pending request, which is answered by it.
	TooLong(tag any, e *Envelope, err *LineTooLongError)
	// Noise is a line that is not a frame.
	Noise(line []byte, err error)
	// Lost is the last call. err is io.EOF or what ended the input.
	Lost(err error)
}

// Package wire frames the app-server's line protocol beneath a sourcegraph/jsonrpc2 connection.
//
// A frame is one JSON object on one line ending in '\n' (U+000A and nothing else: U+2028, U+2029 and a lone '\r' are
// ordinary characters). [LineReader] splits the input, [Envelope] finds the few members of a frame that decide where it
// goes without decoding the rest, and [Stream] is the jsonrpc2.ObjectStream that shows jsonrpc2 only what it has to know:
// frames go to the [Receiver] as bytes, and jsonrpc2 sees a stub of each response, so that numbering, the requests under
// way and closing are its own.
//
// The package promises wire order: the receiver is called from one goroutine, once for each frame, in the order of the
// input. It never interprets params or results. It writes a frame only if 0.160.1 can read it: see [CheckDepth].
package wire

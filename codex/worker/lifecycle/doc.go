// Package lifecycle decides what a worker does: who owns a thread, when an
// operation ends, what may be written next and what every submission is told.
//
// It is one pure function, [Step], from a [State] and an [Event] to the next
// State and the [Effect]s it asks for. Events are what the wire and the callers
// did, in wire order; effects are frames to write, operations to begin or end,
// submissions to answer and timers to keep. Step reads no clock, starts no
// goroutine and blocks on nothing, so every interleaving can be enumerated in a
// test and a report of a fault is a list of events.
//
// What it promises, whatever the order of events:
//
//   - one goal mutation of the thread is on the wire at a time; only the pause of
//     a stop is written behind one that is pending;
//   - a frame is written at most once, and none after a delivery became unknown; only
//     that of a steer or an interrupt ends nothing;
//   - while a mutation is pending, the operation is held: turns may end, the
//     operation may not;
//   - the reply to a mutation outranks every goal notification that came before it;
//   - an operation that ended writes nothing;
//   - every submission is answered exactly once.
package lifecycle

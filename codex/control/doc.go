// Package control lets other programs drive a worker: as line JSON over any
// stream or the owner's private unix socket, and in process without either.
//
// # The wire
//
// One JSON object a line, in both directions. A caller writes commands tagged
// codexctl.command/1; an owner writes events tagged codexctl.event/1. Every line
// that a caller writes, unless it is blank, gets exactly one command.result,
// with the line's own id, or "-" where the line has none: broken lines, unknown
// commands and repeated ids included. Results come as commands finish, not in
// the order of the lines. All other events say what happens on the worker from
// the moment the stream began. Events of one stream are numbered from 1 without
// gaps, results among them; the last is stream.closed. When the caller's input
// ends, what is under way gets its results and the stream is closed.
//
// Fields that a reader does not know are to be ignored, and so are events. An
// object that is absent is null; the value of a result alone has only those
// fields that say something.
//
// # What it promises
//
// Commands that change something (goal.set, goal.edit, goal.pause, goal.resume,
// goal.clear, prompt) are carried out one at a time in the order in which they
// came, from whichever stream; stop and steer go past them, and what still waits
// when a stop comes is refused. Behind a stop that ends the owner as
// well nothing but another stop is carried out. A command asked for again with the
// same id is not carried out again and gets the result it had, from this owner or a
// later one: ids and results are in the worker's journal, the newest 1,000
// results or 256 kB of them. An id that is a UUID of version 7 in lower case and
// older than those is refused as TOO_OLD; any other id is taken for a new one once
// its result has left. A caller that goes away
// changes nothing.
//
// A reader that is too slow loses streamed text and is told so by a lagged
// event; it never holds up the worker or another reader.
//
// The socket is for one user: a hashed name in a private directory, and the
// kernel is asked who is at the other end.
package control

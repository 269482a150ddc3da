// Package codex is a client of one `codex app-server`: it starts the process, calls its methods with the types of package
// protocol, delivers its notifications in order and answers its requests.
//
// What it promises:
//
//   - One order. Everything that comes in has a number, [Event.Seq]. The outcome of a [Dispatch] is an event among the
//     notifications, at the place where its response was on the wire. A [Call] that returns has lost that place.
//   - A definite outcome. Every request ends in exactly one [Delivery]: NotSent, Acknowledged, Rejected or Unknown. No
//     request that changes something is ever written twice.
//   - No stall. The goroutine that reads from the app-server waits for nobody. A subscriber that is too slow loses events
//     that can be read back, is told how many, and never loses a control event. Handlers run on goroutines of their own and
//     may call the client.
//   - No silence. Each request of the app-server's is answered once: by its handler, or with the safe refusal of its kind.
//   - No surprise version. The executable is asked before it runs, and the process once it does; see package version.
//   - Nothing left behind. After [Client.Close] the process is gone and so are the client's goroutines.
//
// Everything exported may be used from any goroutine, except that one subscription's Next serves one at a time.
package codex

// Package codextest lets the real Codex run without an account and without a
// network, and lets a client of Codex meet what the real one does only rarely.
//
// [Model] stands in for the language model: a server on loopback that speaks
// the part of the Responses API that Codex 0.160.1 uses and answers each
// request with the next [Reply] of a [Script]. It records every request, so a
// test can say what the model was told and in which turn. [Home] is a
// CODEX_HOME whose configuration points at such a model and which inherits
// nothing from the user: with the two of them the real app-server is
// deterministic and never leaves the machine.
//
// Nothing here waits for a length of time: a [Gate] holds an answer until it
// is opened, and the Wait methods of [Model] return when what they wait for is
// so, when the script has failed, or when their context ends. A script that
// has no answer left refuses the request and remembers it in [Model.Err];
// nobody is left hanging.
//
// Methods of Model, Gate and Home may be called from any goroutine. The
// constructors without a testing.TB are for programs, such as a demonstration;
// [StartModel], [TempHome] and [Binary] are the same for tests and clean up by
// themselves.
package codextest

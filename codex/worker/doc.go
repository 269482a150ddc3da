// Package worker owns Codex threads: one app-server process and one native
// thread for each project, session and directory, and on it one operation at a
// time.
//
// A [Manager] makes a [Worker] for a [Key] on first use. Prompts and goal
// commands share it. What they submit is decided by package lifecycle in wire
// order; the worker only carries the decisions out.
//
// It promises:
//
//   - A change of the goal is written once, whatever happens. Its outcome is
//     known, or honestly unknown: then the app-server is ended, nothing is sent
//     again, and the next worker for the key finds out by reading back.
//   - An operation is held until a change submitted to it is answered. A change
//     whose operation ended before it could be written is not sent
//     ([ErrOwnerFinished]).
//   - A caller who stops waiting changes nothing but its own wait.
//   - Nothing runs without an owner: turns that Codex starts by itself are adopted.
//   - Before a mutation is written its intent is on disk, and its outcome after.
//   - One process owns a key, and one a native thread ([OwnedError]): the key in a
//     state directory, the thread wherever the state is kept, by a lock in its
//     CODEX_HOME.
//
// It never repeats a mutation, never pauses a goal that is known to be complete,
// and never reports a failed read as "no goal".
//
// All exported methods may be called from any goroutine.
package worker

package main

// topicJSON documents every object that --json prints. TestJSONTopicNamesEveryField
// holds it against the code.
const topicJSON = `With --json a command prints JSON objects, one a line, on standard output, and nothing
else there. Fields keep their names and meanings; new ones may come: ignore those you
do not know. Times are Unix seconds unless the name says otherwise, tokens are tokens.

EVENTS
  goal OBJECTIVE, goal resume, prompt, run, watch and demo print events. Every line has
    format   "codexctl.event/1"
    seq      from 1, one more with every line
    run      names the owner's run
    event    one of those below, with its fields beside these

  command.result      id, outcome {result "ok" or "refused", value, refused {code, reason}}
                      value: operation, goal, note, end, status, commands; only those that
                      say something. code: MALFORMED, BUSY, THREAD_HELD,
                      OWNER_FINISHED, TOO_OLD, TOO_LATE, STOPPED, NOT_SENT,
                      REJECTED, DELIVERY_UNKNOWN, DISCONNECTED, FAILED
  operation.started   operation {id, kind "goal" or "prompt"}, adopted
  operation.changed   operation: a prompt's, which pursues a goal from now on
  operation.ended     operation, end, goal, answer, turn_error, why. end: complete, done,
                      failed, blocked, usageLimited, budgetLimited, paused, cleared,
                      stopped, interrupted, stalled, disconnected
  goal.updated        goal, turn
  goal.cleared
  turn.started        turn
  turn.ended          turn, status "completed", "interrupted" or "failed", error, answer,
                      only_commentary: it spoke, and nothing of it was an answer
  item.started        turn, item, type, summary, native (the item as Codex sent it)
  item.completed      the same
  text                turn, item, text: a piece of a message that is being written
  usage               turn, total_tokens, last_request_tokens, context_window
  approval.asked      request (its id), thread (only for a sub-agent's), turn, item, asked
  approval.answered   the same and decision "accept", "decline" or "withdrawn", by "user",
                      "nobody", "timeout", "codex" or "client", reason. One for each
                      approval.asked, behind it
  warning             code, message
  lagged              dropped: how many events this reader was too slow for
  stream.closed       events, reason; the last line, when the owner ends

  goal                objective, state, label, colour, tokens_used, token_budget (null is
                      none), time_used_seconds, created_at, updated_at. state: active,
                      paused, blocked, usageLimited, budgetLimited, complete
  error, turn_error   message, code (Codex's own word)

ONE OBJECT
  goal, goal pause|clear|edit  goal (null is no goal)
  steer                        steered
  stop                         owned, end, goal
  status, threads adopt        owner {pid, socket} (null: nobody), project, session,
                               directory, thread, state (also "none" and "unavailable"),
                               label, colour, goal, why, operation, turn, now, actions,
                               warnings
  version                      codexctl, supported_codex, codex, codex_path, codex_error
  doctor                       ok, checks [name, result "ok", "warning" or "failed",
                               detail, remedy]

ONE OBJECT A LINE
  threads                      thread, current, directory, preview, created_at,
                               updated_at, state, objective

An owner's socket (status names it) speaks the same events, and takes commands as JSON
lines: format "codexctl.command/1", id, command, and text, token_budget, force or owner.
Commands: goal.set, goal.edit, goal.pause, goal.resume, goal.clear, goal.show, prompt,
steer, stop, status, commands.list. commands.list describes each by name, summary,
argument_help, arguments [usage, action, summary] and mode {name, state, label, colour,
actions}. Each line gets exactly one command.result; the same id again gets the same one.`

package control

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/goal"
)

// Goal is a goal on the wire. State, label and colour say what its status
// means to people; the rest is Codex's.
type Goal struct {
	Objective       string      `json:"objective"`
	State           goal.State  `json:"state"`
	Label           string      `json:"label"`
	Colour          goal.Colour `json:"colour"`
	TokensUsed      int64       `json:"tokens_used"`
	TokenBudget     *int64      `json:"token_budget"` // null is no budget
	TimeUsedSeconds int64       `json:"time_used_seconds"`
	CreatedAt       int64       `json:"created_at"` // Unix seconds
	UpdatedAt       int64       `json:"updated_at"` // Unix seconds
}

// Snapshot is the state of an owner's worker, or of a thread without an owner.
type Snapshot struct {
	Owner     *Owner      `json:"owner"` // null: nobody owns it now
	Project   string      `json:"project"`
	Session   string      `json:"session"`
	Directory string      `json:"directory"`
	Thread    string      `json:"thread"` // "" before there is one
	State     goal.State  `json:"state"`
	Label     string      `json:"label"`
	Colour    goal.Colour `json:"colour"`
	Goal      *Goal       `json:"goal"`      // null with state none or unavailable
	Why       string      `json:"why"`       // what keeps a stopped goal from going on; "" nothing
	Operation *Operation  `json:"operation"` // null: idle
	Turn      string      `json:"turn"`      // the turn that runs; "" none
	Now       string      `json:"now"`       // what runs now, for people; "" nothing known
	Actions   []string    `json:"actions"`   // of the goal command, those that apply now
	Warnings  []string    `json:"warnings"`  // open intents and the like; each in one line
}

// Owner is the process that owns a worker.
type Owner struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket"`
}

// Operation is the exclusive use of a thread until it ends.
type Operation struct {
	ID   string `json:"id"`
	Kind string `json:"kind"` // goal or prompt
}

// TurnError is Codex's own error of a failed turn.
type TurnError struct {
	Message string `json:"message"`
	Code    string `json:"code"` // Codex's codexErrorInfo; "" none
}

// CommandResult is the one result of a command.
type CommandResult struct {
	ID      string  `json:"id"`
	Outcome Outcome `json:"outcome"`
}

// Outcome is either Ok with a Value or Refused.
type Outcome struct {
	Result  string   `json:"result"` // ok or refused
	Value   *Value   `json:"value,omitzero"`
	Refused *Refusal `json:"refused,omitzero"`
}

// OperationStarted tells that an operation owns the thread from now on.
type OperationStarted struct {
	Operation Operation `json:"operation"`
	Adopted   bool      `json:"adopted"` // Codex started its first turn by itself
}

// OperationChanged tells that a prompt's operation pursues a goal from now on.
type OperationChanged struct {
	Operation Operation `json:"operation"`
}

// OperationEnded tells how an operation ended.
type OperationEnded struct {
	Operation Operation  `json:"operation"`
	End       string     `json:"end"`    // complete, done, failed, blocked, usageLimited, budgetLimited, paused, cleared, stopped, interrupted, stalled, disconnected
	Goal      *Goal      `json:"goal"`   // null: no goal, or none known
	Answer    string     `json:"answer"` // of its last turn, as in TurnEnded
	TurnError *TurnError `json:"turn_error"`
	Why       string     `json:"why"` // in words, what stopped it and what to do; "" the end says all
}

// GoalUpdated tells of the goal as it is now.
type GoalUpdated struct {
	Goal Goal   `json:"goal"`
	Turn string `json:"turn"` // the turn that changed it; "" none
}

// GoalCleared tells that the thread has no goal any more.
type GoalCleared struct{}

// TurnStarted tells that a turn runs.
type TurnStarted struct {
	Turn string `json:"turn"`
}

// TurnEnded tells how a turn ended.
type TurnEnded struct {
	Turn   string     `json:"turn"`
	Status string     `json:"status"` // completed, interrupted or failed
	Error  *TurnError `json:"error"`
	Answer string     `json:"answer"` // its last final answer, else its last message without a phase; "" none
	// OnlyCommentary says that it spoke, and only on its way: that is no answer.
	OnlyCommentary bool `json:"only_commentary"`
}

// ItemStarted tells of an item that Codex works on.
type ItemStarted struct{ ItemEvent }

// ItemCompleted tells of an item that is done.
type ItemCompleted struct{ ItemEvent }

// ItemEvent describes one item of a turn.
type ItemEvent struct {
	Turn    string         `json:"turn"`
	Item    string         `json:"item"`    // its id
	Type    string         `json:"type"`    // Codex's own word, such as commandExecution
	Summary string         `json:"summary"` // in one line, for people
	Native  jsontext.Value `json:"native"`  // the item as Codex sent it
}

// TextDelta is a piece of a message that is being written.
type TextDelta struct {
	Turn string `json:"turn"`
	Item string `json:"item"`
	Text string `json:"text"`
}

// Usage is what the thread has used in tokens.
type Usage struct {
	Turn          string `json:"turn"`
	Total         int64  `json:"total_tokens"` // of the whole thread
	LastRequest   int64  `json:"last_request_tokens"`
	ContextWindow *int64 `json:"context_window"` // null: not known
}

// ApprovalAsked tells that Codex waits for leave to go beyond its sandbox. An approval.answered with the same request
// follows.
type ApprovalAsked struct {
	Request string `json:"request"`         // Codex's id of the request
	Thread  string `json:"thread,omitzero"` // the sub-agent's that asks; absent: the owner's own
	Turn    string `json:"turn"`
	Item    string `json:"item"`  // "" for a tool of an MCP server
	Asked   string `json:"asked"` // what for, in one line
}

// ApprovalAnswered tells how such a request was settled.
type ApprovalAnswered struct {
	ApprovalAsked
	Decision string `json:"decision"` // accept, decline, or withdrawn when no answer is needed any more
	By       string `json:"by"`       // user, nobody, timeout, codex when it was withdrawn, client when its handler failed
	Reason   string `json:"reason"`   // in words; "" the rest says all
}

// Warning is something to know that ends nothing.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Lagged tells that a reader was too slow and events were left out.
type Lagged struct {
	Dropped uint64 `json:"dropped"`
}

// StreamClosed is the last event of a stream.
type StreamClosed struct {
	Events uint64 `json:"events"` // lines before this one
	Reason string `json:"reason"`
}

func (*CommandResult) EventName() string    { return "command.result" }
func (*OperationStarted) EventName() string { return "operation.started" }
func (*OperationChanged) EventName() string { return "operation.changed" }
func (*OperationEnded) EventName() string   { return "operation.ended" }
func (*GoalUpdated) EventName() string      { return "goal.updated" }
func (*GoalCleared) EventName() string      { return "goal.cleared" }
func (*TurnStarted) EventName() string      { return "turn.started" }
func (*TurnEnded) EventName() string        { return "turn.ended" }
func (*ItemStarted) EventName() string      { return "item.started" }
func (*ItemCompleted) EventName() string    { return "item.completed" }
func (*TextDelta) EventName() string        { return "text" }
func (*Usage) EventName() string            { return "usage" }
func (*ApprovalAsked) EventName() string    { return "approval.asked" }
func (*ApprovalAnswered) EventName() string { return "approval.answered" }
func (*Warning) EventName() string          { return "warning" }
func (*Lagged) EventName() string           { return "lagged" }
func (*StreamClosed) EventName() string     { return "stream.closed" }

package codex

import (
	"context"
	"sync"
)

// ServerAnswer tells how a server request was settled. There is exactly one for each [ServerRequest] that a subscription
// got, behind it, unless the subscription ended before. It comes before anything that Codex did because of the answer.
type ServerAnswer struct {
	Request *ServerRequest // as it was told of when it came
	By      AnsweredBy
	// Response points to the response type of the method. Nil: the answer was a JSON-RPC error, or nobody waited for one.
	Response any
	// Who decided and Reason are what the handler noted with [NoteAnswer]; "" nothing.
	Who, Reason string
}

// AnsweredBy is how a server request was settled.
type AnsweredBy string

// Ways in which a server request is settled.
const (
	AnsweredByHandler  AnsweredBy = "handler"  // its handler answered
	AnsweredByRefusal  AnsweredBy = "refusal"  // there was no handler, or it failed: the safe refusal was sent
	AnsweredByTimeout  AnsweredBy = "timeout"  // the handler let its time pass: the safe refusal was sent
	AnsweredByResolved AnsweredBy = "resolved" // Codex withdrew it, or its turn ended
	AnsweredByClosed   AnsweredBy = "closed"   // the connection ended
)

// NoteAnswer notes who decides a server request and why, for those who are told of the answer ([ServerAnswer]). A handler
// calls it with its own context, or one made from that, before it returns; the last note counts. With any other context it
// does nothing.
func NoteAnswer(ctx context.Context, who, reason string) {
	if n, ok := ctx.Value(noteKey{}).(*note); ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.who, n.reason = who, reason
	}
}

type noteKey struct{}

// note is what a handler says of its answer.
type note struct {
	mu          sync.Mutex
	who, reason string
}

func (n *note) read() (who, reason string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.who, n.reason
}

// reply is an answer in both its forms.
type reply struct {
	response any // points to the response type
	raw      []byte
}

package codextest

import "sync"

// A Script chooses the reply to a request. It is called for one request at a time, in the order of arrival, and must
// not block: a [Gate] or [Delay] in the reply is what holds an answer back. A nil Reply means that the script has
// nothing to say to this request: the model refuses it and remembers that. (A Reply that is empty but not nil is an
// answer without output.)
type Script func(Request) Reply

// InOrder gives the nth request the nth reply, whatever the request is, and has nothing to say after the last.
func InOrder(replies ...Reply) Script {
	next := cursor(replies)
	return func(Request) Reply { return next() }
}

// PerTurn gives each turn replies of its own: those of the nth turn are turns[n-1], used up in the order of that turn's
// requests. Turns count in the order in which the model first hears of them.
func PerTurn(turns ...[]Reply) Script {
	var mu sync.Mutex
	scripts := make(map[string]func() Reply)
	return func(r Request) Reply {
		mu.Lock()
		defer mu.Unlock()
		next, known := scripts[r.Turn]
		if !known {
			var replies []Reply
			if n := len(scripts); n < len(turns) {
				replies = turns[n]
			}
			next = cursor(replies)
			scripts[r.Turn] = next
		}
		return next()
	}
}

// Always gives every request the same reply. Its gates hold each of them.
func Always(reply Reply) Script {
	return func(Request) Reply { return reply }
}

// Then asks next whenever s has nothing to say.
func (s Script) Then(next Script) Script {
	return func(r Request) Reply {
		if reply := s(r); reply != nil {
			return reply
		}
		return next(r)
	}
}

// cursor hands out replies one by one, then nil.
func cursor(replies []Reply) func() Reply {
	var mu sync.Mutex
	i := 0
	return func() Reply {
		mu.Lock()
		defer mu.Unlock()
		if i == len(replies) {
			return nil
		}
		reply := replies[i]
		i++
		if reply == nil {
			reply = Reply{}
		}
		return reply
	}
}

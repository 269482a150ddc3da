package goal

import "github.com/codexctl/codexctl/codex/protocol"

// remedy is what to do about a failed turn. Trying again is only advised where it is not known to fail at once.
func remedy(failed *protocol.TurnError) string {
	word, status := failure(failed)
	switch {
	case word == protocol.CodexErrorInfoUnauthorized || status == 401:
		return "the model's service takes no such login; run: codex login, then resume"
	case word == protocol.CodexErrorInfoBadRequest || status == 400:
		return "the request itself was refused, and the same one would be again; change the model or the configuration, then resume"
	case word == protocol.CodexErrorInfoOther:
		// 0.160.1 has the same word for a response that broke off and for HTTP 400.
		return "resume tries once more, which helps only if the request itself was not refused"
	case word == protocol.CodexErrorInfoContextWindowExceeded:
		return "the thread is too long for the model; resume has Codex compact it first" // seen: the next turn begins with it
	}
	return "resume tries once more"
}

// failure is Codex's word for a failure, "" if it has none, and the HTTP status behind it, 0 if it names none.
func failure(failed *protocol.TurnError) (protocol.CodexErrorInfoValue, uint16) {
	if failed.CodexErrorInfo == nil {
		return "", 0
	}
	var status *uint16
	switch info := failed.CodexErrorInfo.Arm.(type) {
	case protocol.CodexErrorInfoValue:
		return info, 0
	case *protocol.CodexErrorInfoHTTPConnectionFailed:
		status = info.HTTPStatusCode
	case *protocol.CodexErrorInfoResponseStreamConnectionFailed:
		status = info.HTTPStatusCode
	case *protocol.CodexErrorInfoResponseStreamDisconnected:
		status = info.HTTPStatusCode
	case *protocol.CodexErrorInfoResponseTooManyFailedAttempts:
		status = info.HTTPStatusCode
	}
	if status == nil {
		return "", 0
	}
	return "", *status
}

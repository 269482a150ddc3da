package codextest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// HTTPError answers with an HTTP status instead of a response. Only waiting may come before it in a reply.
func HTTPError(status int, body string) Step {
	return step(func(_ context.Context, a *answer) error {
		if a.began {
			return errors.New("an HTTP error cannot follow output")
		}
		a.began, a.ended = true, true
		a.w.Header().Set("Content-Type", "application/json")
		a.w.WriteHeader(status)
		if _, err := a.w.Write([]byte(body)); err != nil {
			return errGone
		}
		return nil
	})
}

// ServerError is an HTTP 500.
func ServerError() Step {
	return HTTPError(http.StatusInternalServerError, apiError("server_error", "", "The server had an error."))
}

// RateLimited is an HTTP 429 that says nothing of a usage limit.
func RateLimited() Step {
	return HTTPError(http.StatusTooManyRequests, apiError("rate_limit_error", "rate_limit_exceeded", "Too many requests."))
}

// UsageLimitReached is the HTTP 429 that says that the account's usage limit is reached.
func UsageLimitReached() Step {
	return HTTPError(http.StatusTooManyRequests, apiError("usage_limit_reached", "", "The usage limit has been reached."))
}

// Overloaded is the HTTP 503 of a server that has too much to do.
func Overloaded() Step {
	return HTTPError(http.StatusServiceUnavailable, apiError("server_error", "server_is_overloaded", "The server is overloaded."))
}

// Unauthorized is an HTTP 401.
func Unauthorized() Step {
	return HTTPError(http.StatusUnauthorized, apiError("invalid_request_error", "invalid_api_key", "Not logged in."))
}

// BadRequest is an HTTP 400 with the given body, which Codex 0.160.1 hands on as the error's message.
func BadRequest(body string) Step {
	return HTTPError(http.StatusBadRequest, body)
}

func apiError(kind, code, message string) string {
	fields := map[string]string{"type": kind, "message": message}
	if code != "" {
		fields["code"] = code
	}
	data, err := json.Marshal(map[string]any{"error": fields})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(data)
}

// Failed ends the response with response.failed. Codex 0.160.1 knows the codes "context_length_exceeded" and
// "insufficient_quota" among others.
func Failed(code, message string) Step {
	return step(func(_ context.Context, a *answer) error {
		a.ended = true
		return a.event("response.failed", map[string]any{
			"response": map[string]any{
				"id": a.responseID(), "status": "failed",
				"error": map[string]any{"code": code, "message": message},
			},
		})
	})
}

// Cut drops the connection where the answer stands, without an end of the response.
func Cut() Step {
	return step(func(_ context.Context, a *answer) error {
		a.ended = true
		panic(http.ErrAbortHandler)
	})
}

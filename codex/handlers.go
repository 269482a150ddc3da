package codex

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/codexctl/codexctl/codex/internal/wire"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/go-json-experiment/json"
)

// Handler answers one kind of server request. It runs on a goroutine of its own and may call the client back. ctx ends when
// the answer is not needed any more: the request was resolved ([ErrResolved] is the cause) or the connection has ended; or
// when its time is over ([ErrHandlerTimeout]), and then what it answers within 5 s still counts. After an error, a panic or
// runtime.Goexit the request gets the safe refusal of its kind.
type Handler[P, R any] func(ctx context.Context, params *P) (R, error)

// ErrResolved is the cause with which a handler's context ends when Codex says that the request is settled, for instance
// because the turn was interrupted. What the handler returns is not sent then.
var ErrResolved = errors.New("the server request was resolved")

// ErrHandlerTimeout is the cause with which a handler's context ends when Options.HandlerTimeout is over. The handler has
// 5 s left to answer, for instance to tell the model why before it declines; then the safe refusal is sent. It is a
// context.DeadlineExceeded.
var ErrHandlerTimeout = fmt.Errorf("the time to answer the server request is over: %w", context.DeadlineExceeded)

// ServerHandlers answer what the app-server asks. Each may be nil; the comment says which answer is then given, and also
// after an error, a panic, runtime.Goexit, or 5 s after Options.HandlerTimeout is over. No request is ever left without an answer.
type ServerHandlers struct {
	// ApproveCommand decides whether a command may run outside the sandbox. Nil: decline; the model is told and goes on.
	ApproveCommand Handler[protocol.CommandExecutionRequestApprovalParams, protocol.CommandExecutionRequestApprovalResponse]
	// ApproveFileChange decides whether files may be changed. Nil: decline; the model is told and goes on.
	ApproveFileChange Handler[protocol.FileChangeRequestApprovalParams, protocol.FileChangeRequestApprovalResponse]
	// GrantPermissions decides on wider permissions. Nil: none are granted.
	GrantPermissions Handler[protocol.PermissionsRequestApprovalParams, protocol.PermissionsRequestApprovalResponse]
	// AnswerQuestions answers questions of the model's. Nil: no answers, as if all were skipped.
	AnswerQuestions Handler[protocol.ToolRequestUserInputParams, protocol.ToolRequestUserInputResponse]
	// Elicit answers an MCP server, or approves an MCP tool call. Nil: decline.
	Elicit Handler[protocol.McpServerElicitationRequestParams, protocol.McpServerElicitationRequestResponse]
	// CallTool runs a tool that the client has offered with thread/start. Nil: the call fails and the model is told.
	CallTool Handler[protocol.DynamicToolCallParams, protocol.DynamicToolCallResponse]
	// RefreshTokens gives new ChatGPT tokens when the client has brought its own. Nil: a JSON-RPC error.
	RefreshTokens Handler[protocol.ChatgptAuthTokensRefreshParams, protocol.ChatgptAuthTokensRefreshResponse]
	// Attest makes an attestation token. Nil: a JSON-RPC error.
	Attest Handler[protocol.AttestationGenerateParams, protocol.AttestationGenerateResponse]
	// CurrentTime tells the time. Nil: this machine's.
	CurrentTime Handler[protocol.CurrentTimeReadParams, protocol.CurrentTimeReadResponse]
	// ApprovePatch is the file approval of threads of the old API. Nil: denied; the model goes on.
	ApprovePatch Handler[protocol.ApplyPatchApprovalParams, protocol.ApplyPatchApprovalResponse]
	// ApproveExec is the command approval of threads of the old API. Nil: denied; the model goes on.
	ApproveExec Handler[protocol.ExecCommandApprovalParams, protocol.ExecCommandApprovalResponse]
}

// kind is one kind of server request, with its types erased.
type kind struct {
	method *protocol.Method
	// decode returns the params, and how the handler answers them; nil if there is none.
	decode func(h *ServerHandlers, raw []byte) (params any, run func(context.Context) (reply, error), err error)
	// refusal is the safe answer; nil means that a JSON-RPC error is.
	refusal func() reply
}

func kindOf[P, R any](m protocol.ServerMethod[P, R], pick func(*ServerHandlers) Handler[P, R], refusal func() R) kind {
	k := kind{method: m.Method}
	k.decode = func(h *ServerHandlers, raw []byte) (any, func(context.Context) (reply, error), error) {
		params := new(P)
		if err := protocol.Unmarshal(raw, params); err != nil {
			return nil, nil, err
		}
		handler := pick(h)
		if handler == nil {
			return params, nil, nil
		}
		return params, func(ctx context.Context) (reply, error) {
			result, err := handler(ctx, params)
			if err != nil {
				return reply{}, err
			}
			return replyOf(&result)
		}, nil
	}
	if refusal != nil {
		k.refusal = func() reply {
			result := refusal()
			r, err := replyOf(&result)
			if err != nil {
				panic("codex: refusal of " + m.Name + ": " + err.Error())
			}
			return r
		}
	}
	return k
}

func replyOf(response any) (reply, error) {
	raw, err := json.Marshal(response)
	if err != nil {
		return reply{}, err
	}
	return reply{response: response, raw: raw}, wire.CheckDepth(raw)
}

// kinds has a row for each server request of 0.160.1. How the refusals act was seen on it: an approval that gets a JSON-RPC
// error leaves the item failed, one that is declined lets the model go on.
var kinds = func() map[string]kind {
	denied := protocol.ReviewDecision{Arm: &protocol.ReviewDecisionDenied{Rejection: "This client does not approve it."}}
	turn := protocol.PermissionGrantScopeTurn
	table := []kind{
		kindOf(protocol.ItemCommandExecutionRequestApprovalRequest,
			func(h *ServerHandlers) Handler[protocol.CommandExecutionRequestApprovalParams, protocol.CommandExecutionRequestApprovalResponse] {
				return h.ApproveCommand
			},
			func() protocol.CommandExecutionRequestApprovalResponse {
				return protocol.CommandExecutionRequestApprovalResponse{
					Decision: protocol.CommandExecutionApprovalDecision{Arm: protocol.CommandExecutionApprovalDecisionDecline},
				}
			}),
		kindOf(protocol.ItemFileChangeRequestApprovalRequest,
			func(h *ServerHandlers) Handler[protocol.FileChangeRequestApprovalParams, protocol.FileChangeRequestApprovalResponse] {
				return h.ApproveFileChange
			},
			func() protocol.FileChangeRequestApprovalResponse {
				return protocol.FileChangeRequestApprovalResponse{Decision: protocol.FileChangeApprovalDecisionDecline}
			}),
		kindOf(protocol.ItemPermissionsRequestApprovalRequest,
			func(h *ServerHandlers) Handler[protocol.PermissionsRequestApprovalParams, protocol.PermissionsRequestApprovalResponse] {
				return h.GrantPermissions
			},
			func() protocol.PermissionsRequestApprovalResponse {
				return protocol.PermissionsRequestApprovalResponse{Scope: &turn}
			}),
		kindOf(protocol.ItemToolRequestUserInputRequest,
			func(h *ServerHandlers) Handler[protocol.ToolRequestUserInputParams, protocol.ToolRequestUserInputResponse] {
				return h.AnswerQuestions
			},
			func() protocol.ToolRequestUserInputResponse {
				return protocol.ToolRequestUserInputResponse{Answers: map[string]protocol.ToolRequestUserInputAnswer{}}
			}),
		kindOf(protocol.McpServerElicitationRequestRequest,
			func(h *ServerHandlers) Handler[protocol.McpServerElicitationRequestParams, protocol.McpServerElicitationRequestResponse] {
				return h.Elicit
			},
			func() protocol.McpServerElicitationRequestResponse {
				return protocol.McpServerElicitationRequestResponse{Action: protocol.McpServerElicitationActionDecline}
			}),
		kindOf(protocol.ItemToolCallRequest,
			func(h *ServerHandlers) Handler[protocol.DynamicToolCallParams, protocol.DynamicToolCallResponse] {
				return h.CallTool
			},
			func() protocol.DynamicToolCallResponse {
				text := &protocol.DynamicToolCallOutputContentItemInputText{Text: "This client does not run the tool."}
				return protocol.DynamicToolCallResponse{ContentItems: []protocol.DynamicToolCallOutputContentItem{{Arm: text}}}
			}),
		kindOf(protocol.AccountChatgptAuthTokensRefreshRequest,
			func(h *ServerHandlers) Handler[protocol.ChatgptAuthTokensRefreshParams, protocol.ChatgptAuthTokensRefreshResponse] {
				return h.RefreshTokens
			}, nil),
		kindOf(protocol.AttestationGenerateRequest,
			func(h *ServerHandlers) Handler[protocol.AttestationGenerateParams, protocol.AttestationGenerateResponse] {
				return h.Attest
			}, nil),
		kindOf(protocol.CurrentTimeReadRequest,
			func(h *ServerHandlers) Handler[protocol.CurrentTimeReadParams, protocol.CurrentTimeReadResponse] {
				return h.CurrentTime
			},
			func() protocol.CurrentTimeReadResponse {
				return protocol.CurrentTimeReadResponse{CurrentTimeAt: time.Now().Unix()}
			}),
		//lint:ignore SA1019 0.160.1 can still send it, and then it must be answered.
		kindOf(protocol.ApplyPatchApprovalRequest,
			func(h *ServerHandlers) Handler[protocol.ApplyPatchApprovalParams, protocol.ApplyPatchApprovalResponse] {
				return h.ApprovePatch
			},
			func() protocol.ApplyPatchApprovalResponse {
				return protocol.ApplyPatchApprovalResponse{Decision: denied}
			}),
		//lint:ignore SA1019 Likewise.
		kindOf(protocol.ExecCommandApprovalRequest,
			func(h *ServerHandlers) Handler[protocol.ExecCommandApprovalParams, protocol.ExecCommandApprovalResponse] {
				return h.ApproveExec
			},
			func() protocol.ExecCommandApprovalResponse {
				return protocol.ExecCommandApprovalResponse{Decision: denied}
			}),
	}
	byName := make(map[string]kind, len(table))
	for _, k := range table {
		byName[k.method.Name] = k
	}
	return byName
}()

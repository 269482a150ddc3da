// Package protocol holds the types of the Codex app-server protocol, generated
// from the JSON schema that Codex 0.160.1 itself dumps. It has no logic, starts
// no goroutine and keeps no state that callers can see; everything in it may be
// used from any goroutine, values as far as they are not shared and changed.
//
// # Finding a method
//
// The types are named as in the schema, and so are their fields, in Go spelling:
// threadId is ThreadID. From a wire name the way is always the same:
//
//	thread/goal/set                        the method
//	ThreadGoalSetMethod                    its handle: ties the params to the result
//	ThreadGoalSetParams                    its params
//	ThreadGoalSetResponse                  its result
//
//	item/commandExecution/requestApproval  a request of the server's
//	ItemCommandExecutionRequestApprovalRequest
//
//	turn/completed                         a notification
//	NotifyTurnCompleted                    its name as a constant
//	TurnCompletedNotification              its params, as [DecodeNotification] returns them
//
// A handle such as [ThreadGoalSetMethod] names its params and result in its type,
// which is where to look when a name does not follow the rule. [LookupMethod] and
// [Methods] give the same at run time, with direction, stability and effect.
//
// # Absent, null and pointers
//
// In what travels to the server, a member that may be left out and may be null is
// an [Opt]: absent keeps what Codex has, null clears it, a value sets it. In what
// only comes from the server the two mean the same, and the field is a pointer,
// or a nil slice or map. A member that must be there but may be null is a pointer
// and is written as null when it is nil. A member that may be left out but not be
// null is a pointer too. Members of any JSON type are jsontext.Value; nil is
// absent.
//
// # Unions
//
// A union is a struct that holds exactly one arm, an interface that only its arms
// implement. Arms that are JSON objects are held by pointer, bare strings, numbers
// and lists as values of a named type:
//
//	switch arm := item.Arm.(type) {
//	case *protocol.ThreadItemAgentMessage:
//		fmt.Println(arm.Text)
//	case *protocol.Unknown:
//		fmt.Printf("%s\n", arm.Raw)
//	}
//
// An arm that this package does not know is [*Unknown], which keeps the JSON and
// writes it back. Strings with known values are open: other values pass, and
// Known tells them apart. Members that are not known are ignored. So nothing that
// a newer Codex adds makes decoding fail; [UnknownNotification] stands for new
// methods.
//
// # JSON libraries
//
// All types work with encoding/json and with go-json-experiment/json, and both
// give equal results. [Unmarshal] and [DecodeNotification] are faster than either
// for notifications. One difference is the libraries' own: encoding/json writes a
// nil slice as null, which Codex refuses where a list is required, so give such a
// field an empty list.
package protocol

//go:generate go run ../../protocolgen

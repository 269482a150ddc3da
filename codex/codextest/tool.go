package codextest

// Steps for the tools that Codex 0.160.1 offers the model. [Call] makes any other.

// UpdateGoal has the model end the goal: status "complete", "blocked" or "paused". Codex refuses any other.
//
// Codex 0.160.1 runs a tool as soon as its call has been streamed, so it is a matter of luck whether the goal is still
// charged with the tokens of the response that ends it (it was not in 1 of 4 runs). A script whose counts must come out
// the same every time puts Usage{} into that reply.
func UpdateGoal(status string) Step {
	return Call("update_goal", map[string]any{"status": status})
}

// CreateGoal has the model set a goal of its own. A budget of 0 tokens stands for none. Codex refuses it while an
// unfinished goal exists.
func CreateGoal(objective string, budget int64) Step {
	arguments := map[string]any{"objective": objective}
	if budget != 0 {
		arguments["token_budget"] = budget
	}
	return Call("create_goal", arguments)
}

// Exec has the model run a shell command, inside the sandbox.
func Exec(command string) Step {
	return Call("exec_command", map[string]any{"cmd": command})
}

// ExecEscalated has the model ask to run a shell command outside the sandbox. Under the approval policy "on-request"
// Codex asks the client; under "never" it refuses.
func ExecEscalated(command, justification string) Step {
	return Call("exec_command", map[string]any{
		"cmd": command, "sandbox_permissions": "require_escalated", "justification": justification,
	})
}

// ApplyPatch has the model edit files. The patch is in Codex's own format, from "*** Begin Patch" to "*** End Patch".
func ApplyPatch(patch string) Step {
	return CustomCall("apply_patch", patch)
}

// Question is one question of [Ask].
type Question struct {
	ID, Header, Text string
	Options          []string // at least one
}

// Ask has the model ask the user. Codex refuses it outside plan mode unless the feature
// default_mode_request_user_input is on.
func Ask(questions ...Question) Step {
	list := make([]map[string]any, len(questions))
	for i, q := range questions {
		options := make([]map[string]any, len(q.Options))
		for j, label := range q.Options {
			options[j] = map[string]any{"label": label, "description": label}
		}
		list[i] = map[string]any{"id": q.ID, "header": q.Header, "question": q.Text, "options": options}
	}
	return Call("request_user_input", map[string]any{"questions": list})
}

// ProposePlan is the text by which the model proposes a plan in plan mode. Outside it Codex takes it for a message like
// any other.
func ProposePlan(markdown string) Step {
	return Text("<proposed_plan>\n" + markdown + "\n</proposed_plan>\n")
}

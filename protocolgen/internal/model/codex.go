package model

// Codex returns the exceptions for the protocol of Codex 0.160.1.
func Codex() *Exceptions {
	const noParams = "takes no params, so there is no params name to derive it from"
	const misspelt = "the JSON schema writes it with an underscore; Codex itself, and the TypeScript it generates, do not"
	const flattened = "Codex keeps a map in it, keyed by the user's own names, which the JSON schema leaves out and the generated TypeScript shows"
	return &Exceptions{
		Members: map[string]Entry[string]{
			"ThreadTimelineEntryTurnStarted.turn_id":        {"turnId", misspelt},
			"ThreadTimelineEntryTurnStarted.started_at":     {"startedAt", misspelt},
			"ThreadTimelineEntryTurnCompleted.turn_id":      {"turnId", misspelt},
			"ThreadTimelineEntryTurnCompleted.started_at":   {"startedAt", misspelt},
			"ThreadTimelineEntryTurnCompleted.completed_at": {"completedAt", misspelt},
			"ThreadTimelineEntryTurnCompleted.duration_ms":  {"durationMs", misspelt},
			"ThreadRealtimeItemBemItemPromoted.turn_id":     {"turnId", misspelt},
			"ThreadRealtimeItemBemItemPromoted.item_id":     {"itemId", misspelt},
		},
		Open: map[string]Entry[bool]{
			"AppsConfig":     {true, flattened},
			"AppLinksConfig": {true, flattened},
			"AppToolsConfig": {true, flattened},
		},
		Results: map[string]Entry[string]{
			"memory/reset":                             {"MemoryResetResponse", noParams},
			"rollout/compress":                         {"RolloutCompressResponse", noParams},
			"account/gatewayOAuth/read":                {"GatewayOAuthReadResponse", noParams},
			"account/gatewayOAuth/login":               {"GatewayOAuthLoginResponse", noParams},
			"account/gatewayOAuth/cancel":              {"GatewayOAuthCancelResponse", noParams},
			"remoteControl/status/read":                {"RemoteControlStatusReadResponse", noParams},
			"config/mcpServer/reload":                  {"McpServerRefreshResponse", noParams},
			"windowsSandbox/readiness":                 {"WindowsSandboxReadinessResponse", noParams},
			"account/logout":                           {"LogoutAccountResponse", noParams},
			"account/workspaceMessages/read":           {"GetWorkspaceMessagesResponse", noParams},
			"externalAgentConfig/import/readHistories": {"ExternalAgentConfigImportHistoriesReadResponse", noParams},
			"configRequirements/read":                  {"ConfigRequirementsReadResponse", noParams},
			"config/value/write":                       {"ConfigWriteResponse", "both config writes share one result"},
			"config/batchWrite":                        {"ConfigWriteResponse", "both config writes share one result"},
		},
		Names: map[string]Entry[string]{
			"McpServerElicitationRequestParams/openai/form": {"OpenaiSlashForm", "the tags openai/form and openaiForm differ in punctuation alone"},
		},
		Arms: map[string]Entry[string]{
			"ResourceContent/0": {"Text", "the schema gives the arm no name; its own member is text"},
			"ResourceContent/1": {"Blob", "the schema gives the arm no name; its own member is blob"},
		},
		Unions: map[string]Entry[[]Pick]{
			"JSONRPCMessage": {[]Pick{
				{Has: []string{"method"}, Lacks: "id", Arm: "JSONRPCNotification"},
				{Has: []string{"method"}, Arm: "JSONRPCRequest"},
				{Has: []string{"error"}, Arm: "JSONRPCError"},
				{Has: []string{"result"}, Arm: "JSONRPCResponse"},
			}, "JSON-RPC tells its messages apart by which members they have"},
			"McpElicitationPrimitiveSchema": {[]Pick{
				{Is: [2]string{"type", "number"}, Arm: "McpElicitationNumberSchema"},
				{Is: [2]string{"type", "integer"}, Arm: "McpElicitationNumberSchema"},
				{Is: [2]string{"type", "boolean"}, Arm: "McpElicitationBooleanSchema"},
				{Is: [2]string{"type", "array"}, Arm: "McpElicitationEnumSchema"},
				{Is: [2]string{"type", "string"}, Has: []string{"enum"}, Arm: "McpElicitationEnumSchema"},
				{Is: [2]string{"type", "string"}, Has: []string{"oneOf"}, Arm: "McpElicitationEnumSchema"},
				{Is: [2]string{"type", "string"}, Arm: "McpElicitationStringSchema"},
			}, "type alone does not decide: a string with a list of values is the enum arm"},
			"McpElicitationEnumSchema": {[]Pick{
				{Is: [2]string{"type", "array"}, Arm: "McpElicitationMultiSelectEnumSchema"},
				{Is: [2]string{"type", "string"}, Has: []string{"enumNames"}, Arm: "McpElicitationLegacyTitledEnumSchema"},
				{Is: [2]string{"type", "string"}, Arm: "McpElicitationSingleSelectEnumSchema"},
			}, "only the legacy form has enumNames; without them it is the untitled single select, as Codex reads it"},
			"McpElicitationSingleSelectEnumSchema": {[]Pick{
				{Is: [2]string{"type", "string"}, Has: []string{"oneOf"}, Arm: "McpElicitationTitledSingleSelectEnumSchema"},
				{Is: [2]string{"type", "string"}, Has: []string{"enum"}, Arm: "McpElicitationUntitledSingleSelectEnumSchema"},
			}, "the titled form lists its options under oneOf"},
			"McpElicitationMultiSelectEnumSchema": {[]Pick{
				{Is: [2]string{"type", "array"}, Has: []string{"items", "anyOf"}, Arm: "McpElicitationTitledMultiSelectEnumSchema"},
				{Is: [2]string{"type", "array"}, Has: []string{"items", "enum"}, Arm: "McpElicitationUntitledMultiSelectEnumSchema"},
			}, "the titled form lists its options under items.anyOf"},
			"ResourceContent": {[]Pick{
				{Has: []string{"text"}, Arm: "ResourceContentText"},
				{Has: []string{"blob"}, Arm: "ResourceContentBlob"},
			}, "the arms differ in their content member; text wins, as Codex reads it"},
		},
		Reads: map[string]Entry[bool]{
			"server/diagnostics":         {true, "reports counters of the process"},
			"plugin/installed":           {true, "lists what is installed"},
			"app/installed":              {true, "lists what is installed"},
			"environment/info":           {true, "describes a configured environment"},
			"windowsSandbox/readiness":   {true, "asks whether the sandbox is set up"},
			"account/bedrock/discover":   {true, "looks for credentials that are already there"},
			"externalAgentConfig/detect": {true, "looks for files of other agents"},
			"fuzzyFileSearch":            {true, "matches file names"},
			"mock/experimentalMethod":    {true, "a stub that echoes its input"},
		},
		Deprecated: map[string]Entry[bool]{
			"execCommandApproval": {true, "the description that announces the deprecated requests stands on applyPatchApproval alone"},
		},
	}
}

// Pick is one rule of an untagged union: when the value is an object that has
// or lacks these members, or of this JSON kind, it is that arm.
type Pick struct {
	Kind  string    // "string", "number", "array" or "object"; empty for an object that the other fields describe
	Has   []string  // one member, or a member and a member of its object
	Lacks string    // a member that must not be there
	Is    [2]string // a member and the string that it must hold
	Arm   string    // the Go type of the arm
}

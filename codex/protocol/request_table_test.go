package protocol_test

// outside is why a request is only called with arguments that are refused.
type outside string

const (
	inside       outside = "" // everything happens inside the isolated home
	network      outside = "talks to a service of OpenAI or fetches from the network"
	account      outside = "acts on an account at OpenAI"
	remote       outside = "opens this machine to remote control"
	device       outside = "uses the device's own user verification"
	system       outside = "changes accounts and rights of the operating system"
	installation outside = "installs foreign code"
)

// row is what 0.160.1 answers to one request.
type row struct {
	method string
	params string // JSON; $THREAD, $TURN, $WORK, $NOBODY and others are filled in
	fails  string // part of the error message, "" when there is a result
	why    outside
}

// requests lists every client request, called in this order on one app-server
// with one thread that has had one turn, in a home without login.
var requests = []row{
	{"initialize", `{"clientInfo":{"name":"again","version":"0"}}`, "Already initialized", inside},
	{"server/diagnostics", `{}`, "", inside},
	{"userVerification/status", `{}`, "", inside},
	{"userVerification/enroll", `{}`, "not available in this build or account", device},
	{"userVerification/delete", `{}`, "not available in this build or account", device},
	{"userVerification/verify", `{"challenge":"","description":"","title":""}`, "Invalid verification challenge", device},
	{"userVerification/cancel", `{"requestId":"none"}`, "", inside},

	// Threads.
	{"thread/start", `{"ephemeral":true}`, "", inside},
	{"thread/loaded/list", `{}`, "", inside},
	{"thread/read", `{"threadId":"$THREAD","includeTurns":true}`, "", inside},
	{"thread/list", `{}`, "", inside},
	{"thread/turns/list", `{"threadId":"$THREAD","itemsView":"full"}`, "", inside},
	{"thread/items/list", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/timeline/list", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/search", `{"searchTerm":"hello"}`, "", inside},
	{"thread/searchOccurrences", `{"threadId":"$THREAD","searchTerm":"hello"}`, "", inside},
	{"thread/fork", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/name/set", `{"threadId":"$THREAD","name":"a name"}`, "", inside},
	{"thread/metadata/update", `{"threadId":"$THREAD","gitInfo":{"branch":"main"}}`, "", inside},
	{"thread/settings/update", `{"threadId":"$THREAD","effort":"low"}`, "", inside},
	{"thread/goal/get", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/goal/set", `{"threadId":"$THREAD","objective":"rest","status":"paused","tokenBudget":1000}`, "", inside},
	{"thread/goal/clear", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/queue/add", `{"threadId":"$THREAD","clientUserMessageId":"c","input":[]}`, "only user input can be added", inside},
	{"thread/queue/list", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/queue/update", `{"threadId":"$THREAD","queuedSubmissionId":"$NOBODY","input":[]}`, "only user input can be added", inside},
	{"thread/queue/delete", `{"threadId":"$THREAD","queuedSubmissionId":"$NOBODY"}`, "", inside},
	{"thread/queue/reorder", `{"threadId":"$THREAD","queuedSubmissionIds":[]}`, "", inside},
	{"thread/queue/start", `{"threadId":"$THREAD"}`, "queue is empty", inside},
	{"thread/attachment/add", `{"threadId":"$THREAD","attachmentType":"note","identityKey":"k","payload":{"text":"x"}}`, "", inside},
	{"thread/attachment/list", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/attachment/remove", `{"threadId":"$THREAD","attachmentType":"note","identityKey":"k"}`, "", inside},
	{"threadSection/create", `{"name":"section"}`, "", inside},
	{"threadSection/list", `{}`, "", inside},
	{"threadSection/update", `{"name":"renamed","sectionId":"$SECTION"}`, "", inside},
	{"thread/section/move", `{"threadId":"$THREAD","sectionId":"$SECTION"}`, "", inside},
	{"threadSection/delete", `{"sectionId":"$SECTION"}`, "", inside},
	{"thread/increment_elicitation", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/decrement_elicitation", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/memoryMode/set", `{"threadId":"$THREAD","mode":"disabled"}`, "", inside},
	{"thread/inject_items", `{"threadId":"$THREAD","items":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}]}`, "", inside},
	{"thread/approveGuardianDeniedAction", `{"threadId":"$THREAD","event":{}}`, "invalid Guardian denial event", inside},
	{"thread/backgroundTerminals/list", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/backgroundTerminals/terminate", `{"threadId":"$THREAD","processId":"1"}`, "", inside},
	{"thread/backgroundTerminals/clean", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/shellCommand", `{"threadId":"$THREAD","command":""}`, "command must not be empty", inside},

	// Turns.
	{"turn/steer", `{"threadId":"$THREAD","expectedTurnId":"$TURN","input":[{"type":"text","text":"x"}]}`, "no active turn to steer", inside},
	{"turn/interrupt", `{"threadId":"$THREAD","turnId":"$TURN"}`, "no active turn to interrupt", inside},
	{"turn/settings/update", `{"threadId":"$THREAD","turnId":"$TURN"}`, "step_model_switching", inside},
	{"turn/start", `{"threadId":"$NOBODY","input":[]}`, "thread not found", inside},
	{"review/start", `{"threadId":"$NOBODY","target":{"type":"uncommittedChanges"}}`, "thread not found", inside},
	{"thread/compact/start", `{"threadId":"$NOBODY"}`, "thread not found", inside},
	{"thread/revert", `{"threadId":"$THREAD","beforeTurnId":"$TURN"}`, "", inside},
	{"thread/realtime/listVoices", `{}`, "", inside},
	{"thread/realtime/start", `{"threadId":"$NOBODY","outputModality":"text"}`, "thread not found", network},
	{"thread/realtime/appendAudio", `{"threadId":"$NOBODY","audio":{"data":"","numChannels":1,"sampleRate":1}}`, "thread not found", network},
	{"thread/realtime/appendText", `{"threadId":"$NOBODY","text":"x"}`, "thread not found", network},
	{"thread/realtime/appendSpeech", `{"threadId":"$NOBODY","text":"x"}`, "thread not found", network},
	{"thread/realtime/stop", `{"threadId":"$NOBODY"}`, "thread not found", network},

	// Threads come and go.
	{"thread/unsubscribe", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/resume", `{"threadId":"$THREAD","excludeTurns":true}`, "", inside},
	{"thread/archive", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/unarchive", `{"threadId":"$THREAD"}`, "", inside},
	{"thread/delete", `{"threadId":"$FORK"}`, "", inside},

	// Projects.
	{"project/create", `{"idempotencyKey":"k","name":"project","roots":[{"path":"$WORK"}]}`, "", inside},
	{"project/import", `{"idempotencyKey":"k2","name":"imported","roots":[{"path":"$WORK"}]}`, "", inside},
	{"project/list", `{}`, "", inside},
	{"project/read", `{"projectId":"$PROJECT"}`, "", inside},
	{"project/update", `{"projectId":"$PROJECT","name":"renamed"}`, "", inside},
	{"project/move", `{"projectId":"$PROJECT"}`, "", inside},
	{"project/delete", `{"projectId":"$PROJECT"}`, "", inside},

	// Memory and rollouts.
	{"memory/status", `{}`, "", inside},
	{"memory/reset", `null`, "", inside},
	{"rollout/compress", `null`, "", inside},

	// Skills, hooks, plugins, apps.
	{"skills/list", `{}`, "", inside},
	{"skills/extraRoots/set", `{"extraRoots":[]}`, "", inside},
	{"skills/config/write", `{"enabled":false}`, "exactly one of path or name", inside},
	{"hooks/list", `{}`, "", inside},
	{"marketplace/add", `{"source":""}`, "source must not be empty", installation},
	{"marketplace/remove", `{"marketplaceName":""}`, "must not be empty", inside},
	{"marketplace/upgrade", `{}`, "", inside},
	{"plugin/list", `{}`, "", inside},
	{"plugin/search", `{"searchTerm":"x"}`, "", inside},
	{"plugin/installed", `{}`, "", inside},
	{"plugin/reconcile", `{}`, "", inside},
	{"plugin/read", `{"pluginName":""}`, "exactly one of marketplacePath or remoteMarketplaceName", inside},
	{"plugin/skill/read", `{"remoteMarketplaceName":"","remotePluginId":"","skillName":""}`, "is not enabled", network},
	{"plugin/install", `{"pluginName":""}`, "exactly one of marketplacePath or remoteMarketplaceName", installation},
	{"plugin/uninstall", `{"pluginId":""}`, "invalid remote plugin id", inside},
	{"plugin/share/save", `{"pluginPath":"$WORK"}`, "plugin sharing is not enabled", account},
	{"plugin/share/updateTargets", `{"discoverability":"UNLISTED","remotePluginId":"","shareTargets":[]}`, "plugin sharing is not enabled", account},
	{"plugin/share/list", `{}`, "plugin sharing is not enabled", account},
	{"plugin/share/checkout", `{"remotePluginId":""}`, "plugin sharing is not enabled", account},
	{"plugin/share/delete", `{"remotePluginId":""}`, "plugin sharing is not enabled", account},
	{"app/read", `{"appIds":["x"]}`, "", inside},
	{"app/list", `{}`, "", inside},
	{"app/installed", `{}`, "", inside},

	// Files and processes.
	{"fs/createDirectory", `{"path":"$WORK/dir"}`, "", inside},
	{"fs/writeFile", `{"path":"$WORK/dir/file","dataBase64":"eA=="}`, "", inside},
	{"fs/readFile", `{"path":"$WORK/dir/file"}`, "", inside},
	{"fs/getMetadata", `{"path":"$WORK/dir/file"}`, "", inside},
	{"fs/readDirectory", `{"path":"$WORK/dir"}`, "", inside},
	{"fs/copy", `{"sourcePath":"$WORK/dir/file","destinationPath":"$WORK/dir/copy"}`, "", inside},
	{"fs/watch", `{"path":"$WORK/dir","watchId":"w"}`, "", inside},
	{"fs/unwatch", `{"watchId":"w"}`, "", inside},
	{"fs/remove", `{"path":"$WORK/dir/copy"}`, "", inside},
	{"fuzzyFileSearch", `{"query":"file","roots":["$WORK"]}`, "", inside},
	{"fuzzyFileSearch/sessionStart", `{"sessionId":"s","roots":["$WORK"]}`, "", inside},
	{"fuzzyFileSearch/sessionUpdate", `{"sessionId":"s","query":"file"}`, "", inside},
	{"fuzzyFileSearch/sessionStop", `{"sessionId":"s"}`, "", inside},
	{"command/exec", `{"command":["true"],"sandboxPolicy":{"type":"dangerFullAccess"}}`, "", inside},
	{"command/exec/write", `{"processId":"none","closeStdin":true}`, "no active command/exec", inside},
	{"command/exec/resize", `{"processId":"none","size":{"cols":80,"rows":24}}`, "no active command/exec", inside},
	{"command/exec/terminate", `{"processId":"none"}`, "no active command/exec", inside},
	{"process/spawn", `{"processHandle":"p","command":["cat"],"cwd":"$WORK","tty":true,"streamStdin":true}`, "", inside},
	{"process/writeStdin", `{"processHandle":"p","deltaBase64":"eA=="}`, "", inside},
	{"process/resizePty", `{"processHandle":"p","size":{"cols":80,"rows":24}}`, "", inside},
	{"process/kill", `{"processHandle":"p"}`, "", inside},

	// What Codex is and can do.
	{"model/list", `{}`, "", inside},
	{"modelProvider/capabilities/read", `{}`, "", inside},
	{"collaborationMode/list", `{}`, "", inside},
	{"permissionProfile/list", `{}`, "", inside},
	{"experimentalFeature/list", `{}`, "", inside},
	{"experimentalFeature/enablement/set", `{"enablement":{}}`, "", inside},
	{"mock/experimentalMethod", `{"value":"x"}`, "", inside},
	{"environment/status", `{"environmentId":"none"}`, "", inside},
	{"environment/info", `{"environmentId":"none"}`, "unknown environment id", inside},
	{"environment/add", `{"environmentId":"","execServerUrl":""}`, "environment id cannot be empty", network},
	{"windowsSandbox/readiness", `null`, "", inside},
	{"windowsSandbox/setupStart", `{"mode":"elevated","cwd":"relative"}`, "without a base path", system},

	// Configuration.
	{"config/read", `{"includeLayers":true}`, "", inside},
	{"config/value/write", `{"keyPath":"model_verbosity","mergeStrategy":"replace","value":"low"}`, "", inside},
	{"config/batchWrite", `{"edits":[]}`, "", inside},
	{"config/mcpServer/reload", `null`, "", inside},
	{"configRequirements/read", `null`, "", inside},
	{"externalAgentConfig/detect", `{"cwds":["$WORK"]}`, "", inside},
	{"externalAgentConfig/import", `{"migrationItems":[]}`, "", inside},
	{"externalAgentConfig/import/recordHistory", `{"providerId":"x","itemTypeResults":[]}`, "", inside},
	{"externalAgentConfig/import/readHistories", `null`, "", inside},

	// MCP.
	{"mcpServerStatus/list", `{}`, "", inside},
	{"mcpServer/oauth/login", `{"name":"none"}`, "No MCP server named", network},
	{"mcpServer/resource/read", `{"server":"none","uri":"x"}`, "unknown MCP server", inside},
	{"mcpServer/tool/call", `{"threadId":"$THREAD","server":"none","tool":"x"}`, "thread not found", inside},
	{"mcpServer/event/stream/start", `{"threadId":"$THREAD","server":"none","name":"x","subscriptionId":"s","arguments":null}`, "only supported for hosted apps", network},
	{"mcpServer/event/stream/stop", `{"subscriptionId":"s"}`, "", inside},

	// Remote control.
	{"remoteControl/status/read", `null`, "", inside},
	{"remoteControl/enable", `null`, "requires ChatGPT authentication", remote},
	{"remoteControl/disable", `null`, "requires ChatGPT authentication", remote},
	{"remoteControl/pairing/start", `{}`, "requires remote control to be enabled", remote},
	{"remoteControl/pairing/status", `{}`, "requires pairingCode or manualPairingCode", remote},
	{"remoteControl/client/list", `{"environmentId":""}`, "requires environmentId", remote},
	{"remoteControl/client/revoke", `{"clientId":"","environmentId":""}`, "requires environmentId", remote},

	// Accounts.
	{"account/read", `{}`, "", inside},
	{"account/gatewayOAuth/read", `null`, "", inside},
	{"account/gatewayOAuth/login", `null`, "does not use gateway OAuth", account},
	{"account/gatewayOAuth/cancel", `null`, "", inside},
	{"account/rateLimits/read", `null`, "authentication required", account},
	{"account/rateLimitResetCredit/consume", `{"idempotencyKey":""}`, "idempotencyKey must not be empty", account},
	{"account/usage/read", `null`, "authentication required", account},
	{"account/workspaceMessages/read", `null`, "authentication required", account},
	{"account/sendAddCreditsNudgeEmail", `{"creditType":"credits"}`, "authentication required", account},
	{"account/bedrock/discover", `{}`, "", inside},
	{"account/bedrock/setup", `{"type":"profile","profile":"p","region":""}`, "does not support region", account},
	{"account/login/start", `{"type":"apiKey","apiKey":"none"}`, "", inside}, // only written to the isolated home
	{"account/login/cancel", `{"loginId":"none"}`, "invalid login id", inside},
	{"account/logout", `null`, "", inside},
	{"feedback/upload", `{"classification":"bug"}`, "disabled by configuration", network},
}

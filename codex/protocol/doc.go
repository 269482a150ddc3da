// Package protocol holds the types of the Codex app-server protocol, generated
// from the JSON schema of Codex 0.160.1.
package protocol

//go:generate go run ../../protocolgen

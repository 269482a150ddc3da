package main

import (
	"encoding/json"

	"github.com/codexctl/codexctl/codex/control"
)

// messageText is the whole text of a message item; the summary holds it in one
// line alone.
func messageText(i control.ItemEvent) string {
	var native struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(i.Native, &native) != nil || native.Text == "" {
		return i.Summary
	}
	return native.Text
}

package model

import (
	"strings"
	"unicode"
)

// initialisms are the words that Go writes in capitals.
var initialisms = map[string]string{
	"api": "API", "http": "HTTP", "id": "ID", "ids": "IDs", "json": "JSON", "sha": "SHA",
	"uri": "URI", "url": "URL", "urls": "URLs", "uris": "URIs",
}

// GoName turns a wire name of any case into an exported Go name:
// "thread/goal/set" → ThreadGoalSet, "mcp_tool" → McpTool, "threadId" → ThreadID,
// "DISABLED_BY_ADMIN" → DisabledByAdmin.
func GoName(wire string) string {
	var out strings.Builder
	for _, word := range words(wire) {
		lower := strings.ToLower(word)
		if up, ok := initialisms[lower]; ok {
			out.WriteString(up)
			continue
		}
		runes := []rune(lower)
		runes[0] = unicode.ToUpper(runes[0])
		out.WriteString(string(runes))
	}
	return out.String()
}

// words splits at punctuation and at changes of case.
func words(s string) []string {
	var list []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			list = append(list, string(word))
			word = nil
		}
	}
	runes := []rune(s)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])):
			flush()
		case unicode.IsUpper(r) && i > 0 && i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return list
}

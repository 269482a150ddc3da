package codex

import (
	"bytes"
	"io"
	"strings"

	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/go-json-experiment/json/jsontext"
)

// masker masks the secrets of a sequence of frames. It remembers which server requests ask a person for a secret.
type masker struct{ secretAsks map[string]bool }

// frame returns the frame with its strings masked, and false if it is not JSON.
func (m *masker) frame(line []byte, sent bool) ([]byte, bool) {
	all := m.answersSecret(line, sent)
	dec := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var levels []maskLevel
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return bytes.TrimSpace(out.Bytes()), err == io.EOF && out.Len() > 0
		}
		var top *maskLevel
		if len(levels) > 0 {
			top = &levels[len(levels)-1]
		}
		switch kind := tok.Kind(); {
		case kind == '{' || kind == '[':
			levels = append(levels, maskLevel{object: kind == '{', secret: top != nil && top.isSecret()})
		case kind == '}' || kind == ']':
			levels = levels[:len(levels)-1]
			if len(levels) > 0 {
				levels[len(levels)-1].next = false
				levels[len(levels)-1].passed()
			}
		case top != nil && top.object && !top.value:
			name := tok.String()
			top.named(name, all)
			if clean := maskText(name); clean != name {
				tok = jsontext.String(clean)
			}
		default:
			if kind == '"' {
				text := tok.String()
				if top != nil && (top.isSecret() || top.pair && strings.Contains(text, ":")) {
					tok = jsontext.String(masked)
				} else if clean := maskText(text); clean != text {
					tok = jsontext.String(clean)
				}
				top.saw(text)
			} else if kind == '0' && top != nil && top.isSecret() && !top.counts {
				tok = jsontext.String(masked)
			}
			if top != nil {
				top.next = top.next && kind == '"'
				top.passed()
			}
		}
		if err := enc.WriteToken(tok); err != nil {
			return nil, false
		}
	}
}

// answersSecret notes a question that is secret, and recognises the answer to one.
func (m *masker) answersSecret(line []byte, sent bool) bool {
	if !sent {
		if bytes.Contains(line, []byte(`"isSecret":true`)) {
			if id, method := idAndMethod(line); method == protocol.ItemToolRequestUserInputRequest.Name {
				if m.secretAsks == nil {
					m.secretAsks = make(map[string]bool)
				}
				m.secretAsks[id] = true
			}
		}
		return false
	}
	if len(m.secretAsks) == 0 {
		return false
	}
	id, method := idAndMethod(line)
	if method != "" || !m.secretAsks[id] {
		return false
	}
	delete(m.secretAsks, id)
	return true
}

// maskLevel is where the masker stands in an object or array.
type maskLevel struct {
	object bool
	secret bool // everything below is
	value  bool // the name has been read
	name   string
	member bool // the member is secret
	keyed  bool // another member named a secret, so "value" is one
	counts bool // the member is a number of tokens, unless it is a string
	next   bool // the element before named a secret, so the next one is one
	pair   bool // likewise, if it is a user and a password
}

func (l *maskLevel) isSecret() bool { return l.secret || l.member || l.next }

func (l *maskLevel) named(name string, answers bool) {
	l.value, l.name = true, name
	l.member = secretName(name) || name == "value" && l.keyed || answers && name == "answers"
	plain := plainName(name)
	l.counts = strings.HasSuffix(plain, "tokens") && plain != "tokens" // inputTokens
}

// saw notes a string that names what stands beside it: the path that config/value/write writes to, the name of a header or
// variable, and in an array the element in front, as in ["Authorization", "Token x"] and ["-u", "me:x"].
func (l *maskLevel) saw(text string) {
	if l == nil {
		return
	}
	path := strings.Trim(text, `"'`)
	names := secretName(path[strings.LastIndexByte(path, '.')+1:])
	switch {
	case !l.object:
		l.next = !l.next && names
		l.pair = text == "-u" || text == "--user"
	case l.name == "keyPath" || l.name == "name" || l.name == "key" || l.name == "header":
		l.keyed = names
	}
}

func (l *maskLevel) passed() { l.value, l.member, l.counts = false, false, false }

package codex

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/go-json-experiment/json/jsontext"
)

const masked = "[masked]"

// secretNames are members whose strings are secrets, in lower case without '_' and '-'. Those of the protocol are
// LoginAccountParams, ChatgptAuthTokensRefreshResponse, EnvironmentAddParams, the pairing, OAuth and verification types;
// the others occur in configuration, headers and environments.
var secretNames = map[string]bool{
	"authorization": true, "proxyauthorization": true, "cookie": true, "setcookie": true, "signature": true,
	"accesskeyid": true, "authurl": true, "authorizationurl": true, "usercode": true, "devicecode": true,
	"pairingcode": true, "manualpairingcode": true, "codeverifier": true,
}

// secretEndings mark a member by the end of its name: OPENAI_API_KEY, bearer_token, clientSecret.
var secretEndings = []string{"token", "apikey", "accesskey", "secretkey", "privatekey", "secret", "password", "passphrase", "credential"}

func secretName(name string) bool {
	name = strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	if secretNames[name] {
		return true
	}
	for _, end := range secretEndings {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// secretTexts are keys and tokens that are known by their look, wherever they stand. Each begins with a literal, which is
// searched for first: a regular expression over a history of many megabytes would take minutes.
var secretTexts = []struct {
	begin string
	rest  *regexp.Regexp // what follows it
}{
	{"sk-", regexp.MustCompile(`^[A-Za-z0-9_-]{16,}`)},
	{"eyJ", regexp.MustCompile(`^[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)?`)},
	{"ghp_", regexp.MustCompile(`^[A-Za-z0-9]{20,}`)},
	{"gho_", regexp.MustCompile(`^[A-Za-z0-9]{20,}`)},
	{"ghs_", regexp.MustCompile(`^[A-Za-z0-9]{20,}`)},
	{"ghu_", regexp.MustCompile(`^[A-Za-z0-9]{20,}`)},
	{"ghr_", regexp.MustCompile(`^[A-Za-z0-9]{20,}`)},
	{"github_pat_", regexp.MustCompile(`^[A-Za-z0-9_]{20,}`)},
	{"xox", regexp.MustCompile(`^[abprs]-[A-Za-z0-9-]{10,}`)},
	{"AKIA", regexp.MustCompile(`^[0-9A-Z]{16}`)},
	{"Bearer ", regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{8,}`)},
	{"bearer ", regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{8,}`)},
}

func maskText(s string) string {
	for _, secret := range secretTexts {
		if !strings.Contains(s, secret.begin) {
			continue
		}
		var out strings.Builder
		for rest, last := s, byte(0); ; {
			i := strings.Index(rest, secret.begin)
			if i < 0 {
				out.WriteString(rest)
				break
			}
			if i > 0 {
				last = rest[i-1]
			}
			end := i + len(secret.begin)
			if n := len(secret.rest.FindString(rest[end:])); n > 0 && !isWord(last) {
				out.WriteString(rest[:i] + masked)
				end += n
			} else {
				out.WriteString(rest[:end])
			}
			last, rest = rest[end-1], rest[end:]
		}
		s = out.String()
	}
	return s
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

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
				levels[len(levels)-1].passed()
			}
		case top != nil && top.object && !top.value:
			top.named(tok.String(), all)
		default:
			if kind == '"' {
				text := tok.String()
				if top != nil && top.isSecret() {
					tok = jsontext.String(masked)
				} else if clean := maskText(text); clean != text {
					tok = jsontext.String(clean)
				}
				top.saw(text)
			}
			if top != nil {
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
	keyed  bool // keyPath named a secret, so "value" is one
}

func (l *maskLevel) isSecret() bool { return l.secret || l.member }

func (l *maskLevel) named(name string, answers bool) {
	l.value, l.name = true, name
	l.member = secretName(name) || name == "value" && l.keyed || answers && name == "answers"
}

// saw notes the string value of a member: config/value/write names what it writes beside it.
func (l *maskLevel) saw(text string) {
	if l != nil && l.object && l.name == "keyPath" {
		path := strings.Trim(text, `"'`)
		l.keyed = secretName(path[strings.LastIndexByte(path, '.')+1:])
	}
}

func (l *maskLevel) passed() { l.value, l.member = false, false }

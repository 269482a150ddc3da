package codex

import (
	"regexp"
	"strings"
)

const masked = "[masked]"

// secretNames are what secrets are called, in lower case without '_' and '-'. Those of the protocol are LoginAccountParams,
// ChatgptAuthTokensRefreshResponse, EnvironmentAddParams, the pairing, OAuth and verification types; the others occur in
// configuration, headers and environments.
var secretNames = map[string]bool{
	"signature": true, "accesskeyid": true, "authurl": true, "authorizationurl": true, "usercode": true, "devicecode": true,
	"pairingcode": true, "manualpairingcode": true, "codeverifier": true,
}

// headerNames are secret too, and their values have several words.
var headerNames = map[string]bool{"authorization": true, "proxyauthorization": true, "cookie": true, "setcookie": true}

// secretEndings mark a name by its end: OPENAI_API_KEY, bearer_token, clientSecret, tokens.
var secretEndings = []string{
	"token", "apikey", "accesskey", "secretkey", "privatekey", "secret", "password", "passphrase", "credential", "passwd", "pwd",
	"accountkey", "connectionstring",
}

func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

func secretName(name string) bool {
	name = plainName(name)
	if secretNames[name] || headerNames[name] {
		return true
	}
	for _, end := range secretEndings {
		if strings.HasSuffix(strings.TrimSuffix(name, "s"), end) {
			return true
		}
	}
	return false
}

// secretTexts are keys and tokens that are known by their look, wherever they stand. Each begins with a literal, which is
// searched for first: a regular expression over a history of many megabytes would take minutes.
var secretTexts = []struct {
	begin  string
	rest   *regexp.Regexp // what follows it
	inside bool           // also right behind a letter or digit
}{
	{"-----BEGIN ", regexp.MustCompile(`(?s)^.*?(-----END [^-]*-----|$)`), true},
	{"sk-", regexp.MustCompile(`^[A-Za-z0-9_-]{16,}`), false},
	{"sk_live_", word8, false}, {"sk_test_", word8, false}, {"rk_live_", word8, false}, {"rk_test_", word8, false}, {"pk_live_", word8, false}, {"whsec_", word8, false},
	{"hf_", word16, false}, {"npm_", word16, false}, {"pypi-", word16, false}, {"glpat-", word16, false}, {"dop_v1_", word16, false}, {"shpat_", word16, false},
	{"AIza", word16, false}, {"ya29.", word16, false}, {"SG.", word16, false},
	{"eyJ", regexp.MustCompile(`^[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)?`), false},
	{"ghp_", word16, false}, {"gho_", word16, false}, {"ghs_", word16, false}, {"ghu_", word16, false}, {"ghr_", word16, false}, {"github_pat_", word16, false},
	{"xox", regexp.MustCompile(`^[a-z](\.[a-z]+)?-[A-Za-z0-9-]{8,}`), false}, {"xapp-", word8, false},
	{"AKIA", regexp.MustCompile(`^[0-9A-Z]{12,}`), false}, {"ASIA", regexp.MustCompile(`^[0-9A-Z]{12,}`), false},
	{"Bearer ", scheme, false}, {"bearer ", scheme, false}, {"BEARER ", scheme, false}, {"Basic ", scheme, false}, {"basic ", scheme, false},
	{"://", regexp.MustCompile(`^[^\s/"'<>@]+@`), true},         // user and password of a URL
	{"-u", regexp.MustCompile(`^\s*[^\s:"']+:[^\s"']+`), false}, // curl's user and password
	{"--user", regexp.MustCompile(`^[\s=]+[^\s:"']+:[^\s"']+`), false},
}

var (
	word8  = regexp.MustCompile(`^[A-Za-z0-9_.-]{8,}`)
	word16 = regexp.MustCompile(`^[A-Za-z0-9_.-]{16,}`)
	scheme = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{8,}`)
)

// maskText hides what looks like a secret in a text, and what is called one there. It would rather hide too much. What is cut
// into several pieces, as the deltas of a message are, it cannot know.
func maskText(s string) string {
	return maskNamed(maskRandom(maskKnown(s)))
}

func maskKnown(s string) string {
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
			if n := len(secret.rest.FindString(rest[end:])); n > 0 && (!isWord(last) || secret.inside) {
				if secret.begin != "://" {
					out.WriteString(rest[:i] + masked)
				} else {
					out.WriteString(rest[:end] + masked)
				}
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

// randomLength is that of an AWS secret access key, which nothing else marks.
const randomLength = 40

// maskRandom hides words of that length which have all that a random one of base64 has.
func maskRandom(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		n := 0
		var upper, lower, digit bool
		for ; n < len(s) && (isWord(s[n]) && s[n] != '_' || s[n] == '/' || s[n] == '+'); n++ {
			upper = upper || 'A' <= s[n] && s[n] <= 'Z'
			lower = lower || 'a' <= s[n] && s[n] <= 'z'
			digit = digit || '0' <= s[n] && s[n] <= '9'
		}
		if n == randomLength && upper && lower && digit {
			out.WriteString(masked)
		} else {
			out.WriteString(s[:n])
		}
		s = s[n:]
		for n = 0; n < len(s) && !(isWord(s[n]) && s[n] != '_' || s[n] == '/' || s[n] == '+'); n++ {
		}
		out.WriteString(s[:n])
		s = s[n:]
	}
	return out.String()
}

const (
	quotes  = "\"'`"
	blanks  = " \t"
	longest = 128 // bytes of a name
)

// maskNamed hides the values of secrets that are named in front of them: DB_PASSWORD=x, "api_key": "x", --token x.
func maskNamed(s string) string {
	var out strings.Builder
	for done := 0; ; {
		i := strings.IndexAny(s[done:], "=:-")
		if i < 0 {
			out.WriteString(s[done:])
			return out.String()
		}
		i += done
		var name string
		value := i + 1
		if s[i] == '-' {
			if name, value = flagAt(s, i); name == "" {
				value = i + 1
			}
		} else {
			name = nameBefore(s, i)
		}
		out.WriteString(s[done:value])
		done = value
		if name == "" || !secretName(name) {
			continue
		}
		from, to := valueAt(s, value, headerNames[plainName(name)])
		if from < to {
			out.WriteString(s[done:from] + masked)
			done = to
		}
	}
}

// nameBefore is the name that ends in front of the separator at i, with or without quotes.
func nameBefore(s string, i int) string {
	end := len(strings.TrimRight(s[max(0, i-longest):i], blanks+quotes+`\]?:`)) + max(0, i-longest)
	start := end
	for start > max(0, end-longest) && (isWord(s[start-1]) || s[start-1] == '-' || s[start-1] == '.') {
		start--
	}
	return s[start:end]
}

// flagAt is the name of a flag whose value follows behind a blank, and where that begins.
func flagAt(s string, i int) (name string, value int) {
	end := i
	for end < len(s) && end-i < longest && (isWord(s[end]) || s[end] == '-') {
		end++
	}
	if end-i < 3 || i > 0 && isWord(s[i-1]) || end == len(s) || !strings.ContainsRune(blanks, rune(s[end])) {
		return "", 0
	}
	return s[i:end], end
}

// valueAt is where the value behind a separator begins and ends. A quoted one ends with its quote, or with the text; another
// with the word, a header's with the line.
func valueAt(s string, at int, header bool) (from, to int) {
	for at < len(s) && (strings.IndexByte(blanks+"=:>", s[at]) >= 0) {
		at++
	}
	escapes := 0
	for at+escapes < len(s) && s[at+escapes] == '\\' {
		escapes++
	}
	if q := at + escapes; q < len(s) && strings.IndexByte(quotes, s[q]) >= 0 {
		for from, to, n := q+1, q+1, 0; ; to++ {
			switch {
			case to == len(s):
				return from, to
			case s[to] == '\\':
				n++
				continue
			case s[to] == s[q] && n <= escapes:
				return from, to - n
			}
			n = 0
		}
	}
	ends := " \t\r\n" + quotes
	if header {
		ends = "\r\n" + quotes
	}
	if n := strings.IndexAny(s[at:], ends); n >= 0 {
		return at, at + n
	}
	return at, len(s)
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

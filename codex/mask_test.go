package codex

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// secrets are of every common shape that is known by its look.
var secrets = func() []string {
	const body, upper = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8", "ABCD2345EFGH6789"
	all := []string{
		"wJalrXUtnFEMI/K7MDENG/bPxRfi" + "CYEXAMPLE" + "KEY", "eyJ" + body + "." + body + "." + body, "AKIA" + upper, "ASIA" + upper,
		"-----BEGIN OPENSSH PRIVATE " + "KEY-----\n" + strings.Repeat(body+"\n", 3) + "-----END OPENSSH PRIVATE KEY-----",
	}
	for _, begin := range []string{
		"sk-", "sk-proj-", "sk-ant-", "sk_live_", "rk_test_", "whsec_", "hf_", "npm_", "pypi-", "glpat-", "dop_v1_", "AIza",
		"ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "xapp-1-",
	} {
		all = append(all, begin+body)
	}
	return all
}()

// named are the places in a text where any word at all is a secret. The secret stands for §.
var named = []string{
	"DB_PASSWORD=§", "export API_KEY='§'", `{"api_key":"§"}`, `{"a":"{\"api_key\":\"§\"}"}`, `{"x": "{\"y\":\"{\\\"password\\\": \\\"§\\\"}\"}"}`,
	"api-key: §", "X-Api-Key:§", "Authorization: Token §", "cookie: a=1; session=§", "postgres://me:§@db/x", "https://§@github.com/x",
	"--password §", "--token=§", "curl -u me:§ http://x", "curl --user me:§ http://x", "password = \"two words § here\"", "passwd: §", "pwd=§",
	"client_secret := `§`", "env[\"API_TOKEN\"] = '§'", "token => §", "Bearer §", "?access_token=§&x=1", "secrets=§", "connection_string='§'",
}

// members are the places in a frame where any string or number is a secret.
var members = []string{
	`{"params":{"password":§}}`, `{"params":{"secrets":[§]}}`, `{"params":{"tokens":{"a":[{"b":§}]}}}`, `{"params":{"apiKeys":{"a":§}}}`,
	`{"params":{"pwd":§,"a":1}}`, `{"params":{"passwd":§}}`, `{"params":{"headers":[["Authorization",§]]}}`, `{"params":["--password",§]}`,
	`{"params":{"name":"X-Api-Key","value":§}}`, `{"params":{"keyPath":"a.b.api_key","value":§}}`, `{"params":{"env":{"DB_PASSWORD":§}}}`,
	`{"params":{"config":{"mcp_servers.x.env.API_TOKEN":§}}}`, `{"result":{"clientSecret":§}}`,
}

// texts are the places of a frame where text stands.
var texts = []string{
	`{"params":{"delta":§}}`, `{"params":{"env":[§]}}`, `{"params":{"a":{"b":[1,[§]]}}}`, `{"params":{§:1}}`, `{"params":{"config":{"url":§}}}`,
	`{"id":1,"error":{"code":1,"message":§}}`,
}

// traced is the trace of one line.
func tracedLine(t *testing.T, line string) string {
	t.Helper()
	var out bytes.Buffer
	tr := newTracer(&out, new(counters))
	tr.frame([]byte(line), true)
	tr.close()
	if out.Len() == 0 {
		t.Fatalf("no trace of %q", line)
	}
	return out.String()
}

func hides(t *testing.T, line, secret string) {
	t.Helper()
	seen := tracedLine(t, line)
	quoted, _ := json.Marshal(secret)
	inner := strings.Trim(string(quoted), `"`)
	if strings.Contains(seen, secret) || strings.Contains(seen, inner) || len(secret) > 80 && strings.Contains(seen, secret[40:60]) {
		t.Errorf("%s\nis traced as %s", line, seen)
	}
}

func quotedText(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestTraceHidesEverySecretInEveryPlace(t *testing.T) {
	for _, place := range texts {
		for _, secret := range secrets {
			for _, around := range []string{"§", "use § now", "(§)", "'§',"} {
				hides(t, strings.Replace(place, "§", quotedText(strings.Replace(around, "§", secret, 1)), 1), secret)
			}
		}
		for _, in := range named {
			hides(t, strings.Replace(place, "§", quotedText("say "+strings.Replace(in, "§", "hunter2hunter2", 1)), 1), "hunter2hunter2")
		}
	}
	for _, place := range members {
		hides(t, strings.Replace(place, "§", `"hunter2"`, 1), "hunter2")
		hides(t, strings.Replace(place, "§", `918273645`, 1), "918273645")
	}
	hides(t, `{"params":["-u","me:hunter2"]}`, "hunter2")
	for _, secret := range secrets { // lines that are not JSON
		hides(t, "<"+secret+">", secret)
	}
	for _, in := range named {
		hides(t, "log: "+strings.Replace(in, "§", "hunter2hunter2", 1), "hunter2hunter2")
	}
}

func TestTraceStaysReadable(t *testing.T) {
	for _, line := range []string{
		`{"method":"thread/tokenUsage/updated","params":{"tokenUsage":{"total":{"totalTokens":12,"inputTokens":9,"cachedInputTokens":1}}}}`,
		`{"params":{"objective":"Fix the tests: all 12 of them","tokenBudget":1000,"threadId":"01a22cb2-ba94-76c1-a50a-a52e76797f26"}}`,
		`{"params":{"command":["git","push","-u","origin","main"],"cwd":"/home/me/src/github.com/codexctl/codexctl/x"}}`,
		`{"params":{"text":"see https://example.org/a?b=c, at 12:30; x=1; sha 0123456789abcdef0123456789abcdef01234567"}}`,
		`{"params":{"keywords":["a"],"userAuthorization":"high","isSecret":true,"sort":"sort -u names"}}`,
	} {
		var m masker
		if got, ok := m.frame([]byte(line), true); !ok || string(got) != line {
			t.Errorf("%s\nbecame %s", line, got)
		}
	}
}

// Whatever stands around a secret, the trace does not show it.
func FuzzMask(f *testing.F) {
	f.Add(uint8(0), uint8(0), "say", "now")
	f.Add(uint8(3), uint8(2), `password="`, `" -----BEGIN`)
	f.Add(uint8(7), uint8(9), "\\\\\"api_key\\\":", "'://@")
	f.Add(uint8(40), uint8(4), "token= \n sk-", "=:=")
	f.Fuzz(func(t *testing.T, what, where uint8, before, after string) {
		secret, text := "hunter2hunter2", ""
		if int(what) < len(secrets) {
			secret = secrets[what]
			text = secret
		} else {
			text = strings.Replace(named[int(what)%len(named)], "§", secret, 1)
		}
		if strings.Contains(before, secret) || strings.Contains(after, secret) {
			return
		}
		text = before + "\n" + text + "\n" + after
		place := int(where) % (len(texts) + len(members) + 1)
		switch {
		case place < len(texts):
			hides(t, strings.Replace(texts[place], "§", quotedText(text), 1), secret)
		case place < len(texts)+len(members):
			hides(t, strings.Replace(members[place-len(texts)], "§", quotedText(text), 1), secret)
		default:
			hides(t, "<"+strings.ReplaceAll(text, "\n", " \t")+">", secret)
		}
	})
}

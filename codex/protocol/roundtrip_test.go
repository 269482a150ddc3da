package protocol_test

import (
	"bytes"
	stdjson "encoding/json"
	"maps"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/codexctl/codexctl/codex/protocol"
)

// skipped are the definitions that the round trip leaves out, with the reason.
var skipped = map[string]string{}

// randomSamples is how many random instances a definition gets beside the
// systematic ones. PROTOCOL_SAMPLES raises it for a soak.
func randomSamples(tb testing.TB) int {
	n := 2
	if text := os.Getenv("PROTOCOL_SAMPLES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			tb.Fatalf("PROTOCOL_SAMPLES: %v", err)
		}
	}
	return n
}

func instances(tb testing.TB, b *bundle, name string) []pair {
	return append(systematic(b, name), samples(b, name, randomSamples(tb))...)
}

func TestEveryInstanceOfTheSchemaSurvivesARoundTrip(t *testing.T) {
	t.Parallel()
	b := schema(t)
	definitions, tried := 0, 0
	for _, name := range slices.Sorted(maps.Keys(b.definitions)) {
		if reason, ok := skipped[name]; ok {
			t.Logf("skipped %s: %s", name, reason)
			continue
		}
		definitions++
		validator := b.validator(name)
		for _, p := range instances(t, b, name) {
			tried++
			in := encode(t, p.in)
			if err := validator.Validate(parse(t, in)); err != nil {
				t.Fatalf("%s: the instance made for the test is not valid: %s\n%v", name, in, err)
			}
			for codec, out := range roundTrips(t, name, in) {
				got := parse(t, out)
				if !equal(got, p.want) {
					t.Errorf("%s by %s\n   in %s\n  out %s\n want %s", name, codec, in, out, encode(t, p.want))
				}
				if equal(got, p.in) {
					continue // valid, as the instance is
				}
				if err := validator.Validate(got); err != nil {
					t.Errorf("%s by %s: what was written is not valid: %s\n%v", name, codec, out, err)
				}
			}
			if t.Failed() {
				break
			}
		}
	}
	for name := range skipped {
		if b.definitions[name] == nil {
			t.Errorf("%s is to be skipped, but no such definition exists", name)
		}
	}
	t.Logf("%d definitions, %d skipped, %d instances, each by two libraries and the single pass", definitions, len(skipped), tried)
}

// roundTrips decodes the text in all three ways, requires equal results, and
// returns what each library writes.
func roundTrips(t *testing.T, name string, in []byte) map[string][]byte {
	t.Helper()
	experiment, standard, single := protocol.New(name), protocol.New(name), protocol.New(name)
	if experiment == nil {
		t.Fatalf("there is no type for definition %s", name)
	}
	if err := json.Unmarshal(in, experiment); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, in)
	}
	if err := stdjson.Unmarshal(in, standard); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, in)
	}
	if err := protocol.Unmarshal(in, single); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, in)
	}
	if !reflect.DeepEqual(experiment, standard) || !reflect.DeepEqual(experiment, single) {
		t.Errorf("%s: decoded to different values from %s\n go-json-experiment %+v\n encoding/json %+v\n single pass %+v", name, in, experiment, standard, single)
	}
	byExperiment, err := json.Marshal(experiment)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	byStandard, err := stdjson.Marshal(standard)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if bytes.Equal(byExperiment, byStandard) {
		return map[string][]byte{"both libraries": byStandard}
	}
	return map[string][]byte{"go-json-experiment": byExperiment, "encoding/json": byStandard}
}

var farExponent = regexp.MustCompile(`[eE][+-]?0*[1-9][0-9]{3}`)

// equal compares JSON values; numbers by their value.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case stdjson.Number:
		b, ok := b.(stdjson.Number)
		if !ok || a == b {
			return ok
		}
		if len(a) > 400 || len(b) > 400 || farExponent.MatchString(string(a)+" "+string(b)) {
			return false // too large to compare but as text
		}
		x, okx := new(big.Rat).SetString(string(a))
		y, oky := new(big.Rat).SetString(string(b))
		return okx && oky && x.Cmp(y) == 0
	}
	return a == b
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// profileArgs layers the profile name, the file NAME.config.toml in CODEX_HOME,
// over Codex's configuration. 0.160.1's app-server refuses --profile itself
// ("only applies to runtime commands") and any `profile` setting ("no longer
// supported"), so that its entries are handed over one by one with -c.
func profileArgs(codexHome, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return nil, usageError("--profile %s: it is a name, not a path", name)
	}
	path := filepath.Join(codexHome, name+".config.toml")
	var layer map[string]any
	_, err := toml.DecodeFile(path, &layer)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usageError("--profile %s: there is no %s", name, path)
	case err != nil:
		return nil, usageError("--profile %s: %s: %w", name, path, err)
	}
	return overrides(nil, "", layer)
}

// bareKey is a key that needs no quotes. -c splits its path at every dot and
// knows no quotes.
var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// overrides writes every entry of a table as a -c argument behind args.
func overrides(args []string, prefix string, table map[string]any) ([]string, error) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if !bareKey.MatchString(key) && prefix == "" {
			return nil, usageError("--profile: the key %q cannot be handed over with -c", key)
		}
		value := table[key]
		if inner, ok := value.(map[string]any); ok && len(inner) > 0 && allBare(inner) {
			var err error
			if args, err = overrides(args, prefix+key+".", inner); err != nil {
				return nil, err
			}
			continue
		}
		text, err := literal(value)
		if err != nil {
			return nil, usageError("--profile: %s%s: %w", prefix, key, err)
		}
		args = append(args, "-c", prefix+key+"="+text)
	}
	return args, nil
}

func allBare(table map[string]any) bool {
	for key := range table {
		if !bareKey.MatchString(key) {
			return false
		}
	}
	return true
}

// literal writes a value as TOML in one line.
func literal(v any) (string, error) {
	switch v := v.(type) {
	case string:
		// Every JSON string is a basic string of TOML.
		b, err := json.Marshal(v)
		return string(b), err
	case bool, int64:
		return fmt.Sprint(v), nil
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".eIN") {
			text += ".0" // TOML tells 1.0 and 1 apart
		}
		return strings.ToLower(text), nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case []any:
		return joined("[", "]", len(v), func(i int) (string, error) { return literal(v[i]) })
	case []map[string]any:
		return joined("[", "]", len(v), func(i int) (string, error) { return literal(v[i]) })
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		return joined("{", "}", len(keys), func(i int) (string, error) {
			key, err := literal(keys[i])
			if err != nil {
				return "", err
			}
			value, err := literal(v[keys[i]])
			return key + "=" + value, err
		})
	}
	return "", fmt.Errorf("a value of type %T cannot be handed over", v)
}

func joined(open, end string, n int, item func(int) (string, error)) (string, error) {
	items := make([]string, n)
	for i := range items {
		var err error
		if items[i], err = item(i); err != nil {
			return "", err
		}
	}
	return open + strings.Join(items, ",") + end, nil
}

package worker

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxObjective is the greatest length of an objective in Unicode code points,
// after trimming. It is 0.160.1's own limit.
const MaxObjective = 4000

// ErrBlankObjective says that an objective has no text.
var ErrBlankObjective = errors.New("the objective is blank; say what is to be done")

// TrimObjective returns the objective as Codex stores it, without white space
// around it, or says why Codex would refuse it.
func TrimObjective(text string) (string, error) {
	text = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", ErrBlankObjective
	case !utf8.ValidString(text):
		return "", errors.New("the objective is not valid UTF-8; Codex would close its input over it")
	case n > MaxObjective:
		return "", fmt.Errorf("the objective has %d characters; Codex takes at most %d: shorten it, or point it to a file", n, MaxObjective)
	}
	return text, nil
}

// checkText says why a text for a turn cannot be sent.
func checkText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the text is blank; say what is to be done")
	case !utf8.ValidString(text):
		return errors.New("the text is not valid UTF-8; Codex would close its input over it")
	}
	return nil
}

func checkBudget(tokens int64, given bool) error {
	if given && tokens <= 0 {
		return fmt.Errorf("a token budget of %d; it must be positive, or null for none", tokens)
	}
	return nil
}

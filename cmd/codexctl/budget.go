package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/codexctl/codexctl/codex/protocol"
)

// budgetFlag is a goal's total in tokens: a number, with _ or , between its
// digits if you like and k or M behind it, or "none" to remove it.
type budgetFlag struct{ value protocol.Opt[int64] }

func (b *budgetFlag) String() string {
	if n, ok := b.value.Get(); ok {
		return strconv.FormatInt(n, 10)
	}
	if b.value.IsNull() {
		return "none"
	}
	return ""
}

func (b *budgetFlag) Type() string { return "tokens" }

func (b *budgetFlag) Set(s string) error {
	if s == "none" {
		b.value = protocol.Null[int64]()
		return nil
	}
	digits := strings.NewReplacer("_", "", ",", "").Replace(s)
	factor := int64(1)
	switch {
	case strings.HasSuffix(digits, "k"):
		digits, factor = strings.TrimSuffix(digits, "k"), 1000
	case strings.HasSuffix(digits, "M"):
		digits, factor = strings.TrimSuffix(digits, "M"), 1_000_000
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return fmt.Errorf("write a number of tokens such as 50000 or 50k, or none")
	}
	if n <= 0 {
		return fmt.Errorf("a budget is positive; none removes it")
	}
	if n > (1<<63-1)/factor {
		return fmt.Errorf("that is more than Codex can count")
	}
	b.value = protocol.Some(n * factor)
	return nil
}

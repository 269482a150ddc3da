package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/version"
)

// foundCodex is the Codex that would be run, as far as it was found.
type foundCodex struct {
	path    string // "" when there is none
	version string // "" when it does not say
}

// findCodex finds the Codex to run and checks its version, before anything is
// started or written. All its errors exit with exitNoCodex.
func findCodex(ctx context.Context) (found foundCodex, err error) {
	if found.path, err = codex.FindExecutable(""); err == nil {
		found.version, err = version.OfExecutable(ctx, found.path)
	}
	if err == nil {
		err = version.Check(found.version)
	}
	if err == nil {
		return found, nil
	}
	return found, &exitError{exitNoCodex, err}
}

// checkLogin is errNoLogin where the model would refuse all work for want of a
// login. Another error says that Codex does not tell.
func checkLogin(ctx context.Context, c *codex.Client) error {
	account, err := codex.Call(ctx, c, protocol.AccountReadMethod, protocol.GetAccountParams{})
	if err != nil {
		return fmt.Errorf("ask Codex for its login: %w", err)
	}
	if account.RequiresOpenaiAuth && account.Account == nil {
		return errNoLogin
	}
	return nil
}

var errNoLogin = errors.New("codex has no login; run: codex login")

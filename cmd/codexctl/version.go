package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/codex/version"
)

type versionOptions struct {
	streams streams
	json    bool
}

// versionReport is the JSON of codexctl version.
type versionReport struct {
	Codexctl  string `json:"codexctl"`
	Supported string `json:"supported_codex"`
	Codex     string `json:"codex"`       // "" when there is none, or it does not say
	CodexPath string `json:"codex_path"`  // "" when there is none
	Error     string `json:"codex_error"` // why it cannot be used; "" it can
}

func newVersion(s streams) *cobra.Command {
	o := &versionOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of codexctl and of the Codex it would run",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runVersion(cmd, o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return cmd
}

// runVersion exits with 9 when there is no Codex that could be used, having
// printed what it found.
func runVersion(cmd *cobra.Command, o *versionOptions) error {
	r := versionReport{Codexctl: moduleVersion(), Supported: version.Supported}
	found, err := findCodex(cmd.Context())
	r.CodexPath, r.Codex = found.path, found.version
	if err != nil {
		r.Error = oneLine(err)
	}
	if o.json {
		if err := json.NewEncoder(o.streams.out).Encode(r); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(o.streams.out, "codexctl %s\n", r.Codexctl)
		if r.Codex != "" {
			fmt.Fprintf(o.streams.out, "codex    %s (%s)\n", r.Codex, r.CodexPath)
		}
		fmt.Fprintf(o.streams.out, "supports %s\n", r.Supported)
	}
	return err
}

// moduleVersion is the version this program was built as, "devel" for a build
// from a work tree.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/goal"
)

type threadsOptions struct {
	operateOptions
	all   bool
	limit uint32
}

func newThreads(s streams) *cobra.Command {
	o := &threadsOptions{operateOptions: operateOptions{streams: s}}
	list := &cobra.Command{
		Use:   "threads",
		Short: "List Codex's threads of this directory, or adopt one",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return listThreads(cmd.Context(), o) },
	}
	list.Flags().BoolVar(&o.all, "all", false, "those of all directories")
	list.Flags().Uint32Var(&o.limit, "limit", 20, "how many at most, the last used first")
	adopt := &cobra.Command{
		Use:   "adopt ID",
		Short: "Make an existing thread this session's own",
		Args:  asUsage(cobra.ExactArgs(1)),
		RunE:  func(cmd *cobra.Command, args []string) error { return adoptThread(cmd.Context(), o, args[0]) },
	}
	for _, cmd := range []*cobra.Command{list, adopt} {
		cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object a line")
		o.key.register(cmd.Flags())
		_ = cmd.Flags().MarkHidden("thread")
	}
	list.AddCommand(adopt)
	return list
}

// threadReport is the JSON of one thread.
type threadReport struct {
	Thread    string     `json:"thread"`
	Current   bool       `json:"current"` // it is this session's
	Directory string     `json:"directory"`
	Preview   string     `json:"preview"`
	CreatedAt int64      `json:"created_at"` // Unix seconds
	UpdatedAt int64      `json:"updated_at"` // Unix seconds
	State     goal.State `json:"state"`      // of its goal
	Objective string     `json:"objective"`  // of its goal; "" none
}

func listThreads(ctx context.Context, o *threadsOptions) (err error) {
	at, err := knownSite(o.streams, o.key)
	if err != nil {
		return err
	}
	found, err := findCodex(ctx)
	if err != nil {
		return err
	}
	client, err := codex.Start(ctx, codex.Options{Path: found.path, Dir: anywhere(), Client: codex.ClientInfo{Version: moduleVersion()}})
	if err != nil {
		return startError(err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	reports, err := o.read(ctx, client, at)
	if err != nil {
		return err
	}
	if o.json {
		for _, r := range reports {
			if err := writeJSON(o.streams.out, r); err != nil {
				return err
			}
		}
		return nil
	}
	return o.print(reports)
}

func (o *threadsOptions) read(ctx context.Context, client *codex.Client, at site) ([]threadReport, error) {
	params := protocol.ThreadListParams{Limit: protocol.Some(o.limit)}
	if !o.all {
		dir := protocol.ThreadListCwdFilterString(at.identity.Key.Dir)
		params.Cwd = protocol.Some(protocol.ThreadListCwdFilter{Arm: dir})
	}
	list, err := codex.Call(ctx, client, protocol.ThreadListMethod, params)
	if err != nil {
		return nil, err
	}
	current, _, err := storedAt(at)
	if err != nil {
		return nil, err
	}
	var reports []threadReport
	for _, t := range list.Data {
		got, err := codex.Call(ctx, client, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: t.ID})
		r := threadReport{
			Thread: t.ID, Current: t.ID == current.Thread, Directory: string(t.Cwd), Preview: t.Preview,
			CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, State: goal.StateOf(got.Goal, err),
		}
		if got.Goal != nil {
			r.Objective = got.Goal.Objective
		}
		reports = append(reports, r)
	}
	return reports, nil
}

func (o *threadsOptions) print(reports []threadReport) error {
	w := tabwriter.NewWriter(o.streams.out, 0, 0, 2, ' ', 0)
	for _, r := range reports {
		mark := " "
		if r.Current {
			mark = "*"
		}
		about := view.Cut(view.Clean(cmp.Or(r.Objective, r.Preview)), 60)
		when := time.Unix(r.UpdatedAt, 0).Format("2006-01-02 15:04")
		row := []string{mark + " " + r.Thread, when, r.State.Label(), about}
		if o.all {
			row = append(row, r.Directory)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// adoptThread makes a thread the session's own, for whoever owns it next.
func adoptThread(ctx context.Context, o *threadsOptions, thread string) (err error) {
	at, err := knownSite(o.streams, o.key)
	if err != nil {
		return err
	}
	o.key.thread = thread
	link, err := o.visit(ctx, at, o.key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, link.close()) }()
	value, err := link.ask(ctx, control.Command{ID: commandID(), Name: control.Status})
	if err != nil {
		return err
	}
	if link.own != nil { // for this moment, only to adopt
		value.Status.Owner = nil
	}
	if o.json {
		return writeJSON(o.streams.out, value.Status)
	}
	return printSnapshot(o.streams, o.streams.out, value.Status)
}

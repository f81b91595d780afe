package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hooklog/domain/catalog"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/actions"
	"hooklog/transport/pipelines/outbound"
)

func newPipeline() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "pipeline",
		Short: "Check, store and run pipelines",
		Example: `  hooklog pipeline check -f orders.yaml
  hooklog pipeline apply -f orders.yaml`,
	})
	r := newRemote(cmd)
	cmd.AddCommand(newPipelineApply(r), newPipelineCheck(), newPipelineList(r), newPipelineShow(r), newPipelineDelete(r), newPipelineRun(r))
	return cmd
}

// source is the file of a pipeline, as the flag names it.
func source(cmd *cobra.Command) *string {
	path := cmd.Flags().StringP("file", "f", "", "file of the pipeline; - for the standard input")
	must(cmd.MarkFlagRequired("file"))
	must(cmd.MarkFlagFilename("file", "yaml", "yml"))
	return path
}

func newPipelineApply(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply -f FILE", Short: "Store a pipeline, in place of the one of its name", Args: cobra.NoArgs,
		Example: `  hooklog pipeline apply -f orders.yaml              # its name is orders
  hooklog pipeline apply -f orders.yaml --name shop.orders`,
		DisableFlagsInUseLine: true,
	}
	path := source(cmd)
	name := cmd.Flags().String("name", "", "name of the pipeline; default that of the file")
	cmd.RunE = r.runs(func(cmd *cobra.Command, _ []string, s session) error {
		body, err := (&input{cmd: cmd}).content(*path)
		if err != nil {
			return errUsage{err}
		}
		if *name == "" {
			*name = strings.TrimSuffix(filepath.Base(*path), filepath.Ext(*path))
		}
		answer, err := s.ask(cmd, catalog.PipelinePut, "name", *name, "body", string(body))
		if err != nil {
			return err
		}
		return s.Value(answer, pipelineColumns...)
	})
	return cmd
}

func newPipelineCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use: "check -f FILE", Short: "Find what is wrong with a pipeline, on this machine alone", Args: cobra.NoArgs,
		Long: `Find what is wrong with a pipeline, on this machine alone: nothing is stored, and
no service is asked. It is the language that is checked; which rights the pipeline
needs is known by the service only.`,
		Example:               `  hooklog pipeline check -f orders.yaml`,
		DisableFlagsInUseLine: true,
	}
	path := source(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		body, err := (&input{cmd: cmd}).content(*path)
		if err != nil {
			return errUsage{err}
		}
		if _, err := pipelines.Compile(body, actions.New(actions.Config{}, actions.Deps{HTTP: &outbound.Client{}})); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "hooklog: %s is right\n", *path)
		return err
	}
	return cmd
}

func newPipelineList(r *remote) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the pipelines", Args: cobra.NoArgs,
		Example: `  hooklog pipeline list`,
		RunE: r.runs(func(cmd *cobra.Command, _ []string, s session) error {
			return s.list(cmd, catalog.PipelineGet, url.Values{}, pipelineColumns)
		}),
	}
}

func newPipelineShow(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a pipeline as it is stored", Args: cobra.ExactArgs(1),
		Example: `  hooklog pipeline show orders -o table > orders-as-stored.yaml
  hooklog pipeline show orders --version 1`,
		ValidArgsFunction: firstArgument(r.pipelineNames),
	}
	version := cmd.Flags().String("version", "", "version to show; default the latest")
	cmd.RunE = r.runs(func(cmd *cobra.Command, args []string, s session) error {
		answer, err := s.ask(cmd, catalog.PipelineGet, "name", args[0], "version", *version)
		if err != nil {
			return err
		}
		var stored struct{ Body string }
		if err := json.Unmarshal(answer, &stored); err != nil {
			return err
		}
		return s.Text(answer, stored.Body)
	})
	return cmd
}

func newPipelineDelete(r *remote) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a pipeline", Args: cobra.ExactArgs(1),
		Example:           `  hooklog pipeline delete orders`,
		ValidArgsFunction: firstArgument(r.pipelineNames),
		RunE: r.runs(func(cmd *cobra.Command, args []string, s session) error {
			answer, err := s.ask(cmd, catalog.PipelineDelete, "name", args[0])
			if err != nil {
				return err
			}
			return s.Value(answer, pipelineColumns...)
		}),
	}
}

func newPipelineRun(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use: "run NAME", Short: "Run a pipeline once, as you, and show what it ends with", Args: cobra.ExactArgs(1),
		Example:           `  hooklog pipeline run greet --data '{"name":"Ada"}'`,
		ValidArgsFunction: firstArgument(r.pipelineNames),
	}
	data := cmd.Flags().StringP("data", "d", "", "what it begins with, as JSON: a text, @file, or @- for the standard input")
	cmd.RunE = r.runs(func(cmd *cobra.Command, args []string, s session) error {
		body, err := payload{data: *data}.read(cmd)
		if err != nil {
			return err
		}
		stop := s.Progress("running " + args[0])
		answer, err := s.ask(cmd, catalog.PipelineRun, "name", args[0], "body", string(body.Content))
		stop()
		if err != nil {
			return err
		}
		return s.Value(answer)
	})
	return cmd
}

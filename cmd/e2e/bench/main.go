// Bench measures hooklog beside the least that could do its job, on this machine
// and in one run: a bare net/http handler that makes the same two appends, a bare
// append, a bare consumer. Both sides take turns, so that whatever else the
// machine does hits both; the medians and, more so, the ratios count.
//
// It starts itself again as server and as load generator: separate processes, so
// that the server's processor time and memory can be told from the rest. All of
// it is on loopback. Memory and processor time are read from /proc, so it needs
// Linux, and nothing else but Go.
//
// It is no test: a missed target is marked and no failure.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// plan is how much is measured.
type plan struct {
	dir     string
	only    string // the part that is measured; empty is all
	brokers []string
	rounds  int
	// measured is how long each side's load counts in a round, after warmUp.
	measured, warmUp time.Duration
	// connections are how many call at once; commandConnections run commands.
	connections, commandConnections []int
	// webhooks is the number of registered webhooks that is compared with few.
	webhooks int
	// history is how long the log grows that is folded again, and verified.
	history time.Duration
	// traced are the numbers of calls among which those of one webhook are found.
	traced []int
}

const few = 10

func main() {
	var err error
	if run, isRole := roles[role()]; isRole {
		if err = run([]byte(os.Args[2])); err != nil {
			tell(failure{err.Error()})
		}
	} else if err = bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil {
		os.Exit(1)
	}
}

// roles are what this program is when it starts itself.
var roles = map[string]func(config []byte) error{
	"bare":    serveBare,
	"hooklog": serveHooklog,
	"load":    generateLoad,
	"consume": consume,
	"sink":    serveSink,
	"verify":  verifyLog,
}

func role() string {
	if len(os.Args) == 3 {
		return os.Args[1]
	}
	return ""
}

func bench() (err error) {
	p, err := readPlan()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp(p.dir, "hooklog-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(p.dir) }()

	if err := describeMachine(p); err != nil {
		return err
	}
	for _, part := range parts {
		if p.only != "" && p.only != part.name {
			continue
		}
		if err := part.measure(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// part is what can be measured alone.
type part struct {
	name    string
	measure func(context.Context, plan) error
}

var parts = []part{
	{"receive", benchReceive},
	{"webhooks", benchWebhooks},
	{"commands", benchCommands},
	{"identity", benchIdentity},
	{"pipelines", benchPipelines},
	{"tracing", benchTracing},
	{"rebuild", benchRebuild},
	{"traces", benchTraces},
	{"verify", benchVerify},
	{"kafka", benchKafka},
}

func readPlan() (plan, error) {
	p := plan{
		rounds: 3, measured: 3 * time.Second, warmUp: 500 * time.Millisecond,
		connections: []int{64, 256}, commandConnections: []int{1, 64}, webhooks: 10_000, history: 6 * time.Second,
		traced: []int{10_000, 100_000, 1_000_000},
	}
	short := flag.Bool("short", false, "measure less, in under 40 s")
	brokers := flag.String("brokers", "", "measure on these Kafka brokers too, host:port, separated by commas; they must hold no hooklog")
	flag.StringVar(&p.only, "only", "", "measure one part: receive, webhooks, commands, identity, pipelines, tracing, rebuild, traces, verify or kafka")
	flag.StringVar(&p.dir, "dir", os.TempDir(), "folder for the logs; its disk is what sync measures")
	flag.Parse()
	if flag.NArg() > 0 {
		return p, fmt.Errorf("%q is not known; see -help", flag.Arg(0))
	}
	if p.only != "" && !slices.ContainsFunc(parts, func(part part) bool { return part.name == p.only }) {
		return p, fmt.Errorf("there is no part %q; see -help", p.only)
	}
	if *short {
		p.measured, p.warmUp, p.history = 600*time.Millisecond, 200*time.Millisecond, time.Second
		p.connections, p.commandConnections, p.webhooks = []int{64}, []int{1}, 1000
		p.traced = []int{10_000, 50_000}
	}
	if *brokers != "" {
		p.brokers = strings.Split(*brokers, ",")
	} else if p.only == "kafka" {
		return p, errors.New("kafka needs -brokers")
	}
	return p, nil
}

// tell sends a message to the process that started this one.
func tell(message any) {
	_ = json.NewEncoder(os.Stdout).Encode(message) // nobody listens any more
}

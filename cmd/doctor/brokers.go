package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"hooklog/cmd/app"
	"hooklog/transport/kafka"
)

// openLog gives the brokers' log, of which at least one broker answers.
func (e *examination) openLog(ctx context.Context) (*kafka.Log, error) {
	how, _, err := app.OnBrokers(e.cfg, e.deps.Log)
	if err != nil {
		return nil, err
	}
	log, err := kafka.Open(how)
	if err != nil {
		return nil, err
	}
	// Other requests are repeated until ctx ends, and then tell no reason.
	if err := log.Ping(ctx); err != nil {
		log.Close()
		return nil, err
	}
	return log, nil
}

func (e *examination) brokers(ctx context.Context, n *notes) {
	how, specs, err := app.OnBrokers(e.cfg, e.deps.Log)
	if err != nil {
		n.fail("mend the file, or the setting that names it", "%v", err)
		return
	}
	seeds := reachAll(ctx, how, e.cfg.Brokers)
	var nodes []string
	answered := false
	for _, seed := range seeds {
		judgeReached(n, seed)
		answered = answered || seed.err == nil
		nodes = append(nodes, seed.Nodes...)
	}
	if !answered {
		return
	}
	judgeNodes(n, reachAll(ctx, how, others(nodes, e.cfg.Brokers)))

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	log, err := e.openLog(ctx)
	if err != nil {
		n.fail("look again", "a broker that answered does not any more: %v", err)
		return
	}
	defer log.Close()
	e.topics(ctx, n, log, specs)
	e.rights(ctx, n.about("permissions"), log)
	judgeDisks(ctx, n.about("broker disk"), log)
}

// reached is one way to a broker, and where it ended.
type reached struct {
	address string
	kafka.Reached
	err error
}

func reachAll(ctx context.Context, how kafka.Config, addresses []string) []reached {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ways := make([]reached, len(addresses))
	var running sync.WaitGroup
	for i, address := range addresses {
		running.Go(func() {
			found, err := kafka.Reach(ctx, how, address)
			ways[i] = reached{address, found, err}
		})
	}
	running.Wait()
	return ways
}

func judgeReached(n *notes, way reached) {
	var failed *kafka.ReachError
	switch {
	case errors.As(way.err, &failed):
		n.fail(remedies[failed.Stage], "%s fails at %v", way.address, failed)
	case way.err != nil:
		n.fail("mend the settings of the brokers", "%s: %v", way.address, way.err)
	case !way.TopicIDs:
		n.warn("use Kafka 2.8 or later", "%s is Kafka %s, which does not tell a topic from an earlier one of its name", way.address, way.Version)
	default:
		n.ok("%s answers, Kafka %s", way.address, way.Version)
	}
}

var remedies = map[kafka.Stage]string{
	kafka.StageTCP:   "see that the broker runs, and that name, port and firewall let this machine through",
	kafka.StageTLS:   "see that the broker speaks TLS on this port, that broker-tls-ca holds the authority of its certificate, and that it names this host",
	kafka.StageKafka: "see that the port is Kafka's, and set broker-tls if it is its port for TLS",
	kafka.StageLogin: "see that broker-sasl is what the broker asks for, and that broker-user and its password are right there",
}

// judgeNodes is about the addresses that the brokers give to clients. Whoever
// reaches one broker and not these can do nothing.
func judgeNodes(n *notes, ways []reached) {
	for _, way := range ways {
		if way.err != nil {
			n.fail("set advertised.listeners of that broker to what this machine reaches, or mend the way to it",
				"a broker sends its clients to %s, which fails at %v", way.address, way.err)
			continue
		}
		n.ok("%s answers, named by another, Kafka %s", way.address, way.Version)
	}
}

// others are the addresses, each once, that are not among those known.
func others(addresses, known []string) []string {
	slices.Sort(addresses)
	return slices.DeleteFunc(slices.Compact(addresses), func(a string) bool {
		return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(a, k) })
	})
}

package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

// The operations that the service needs, in Kafka's words.
var (
	topicNeeds   = []string{"DESCRIBE", "READ", "WRITE", "DESCRIBE_CONFIGS"}
	groupNeeds   = []string{"DESCRIBE", "READ"}
	clusterNeeds = []string{"CREATE"}
)

// topics holds the service's own topics against what a start wants of them.
func (e *examination) topics(ctx context.Context, n *notes, log *kafka.Log, specs []kafka.TopicSpec) {
	var missing []string
	for _, spec := range specs {
		about := n.about(spec.Name)
		state, err := log.InspectTopic(ctx, spec)
		switch {
		case kafka.MissesTopic(err):
			missing = append(missing, spec.Name)
			about.ok("is not there yet; the next start makes it")
		case refused(err):
			about.fail(grant("topic "+spec.Name, topicNeeds), "the brokers do not let this user look at it: %v", err)
		case err != nil:
			about.fail("look again when the brokers are well", "%v", err)
		default:
			judgeTopic(about, spec, state)
		}
	}
	if len(missing) > 0 && len(missing) < len(specs) {
		n.about("topics").warn("if this log is not new, find out who deleted them before you start a service: it would make them anew, and empty",
			"some are there, and %s not", strings.Join(missing, ", "))
	}
}

func judgeTopic(n *notes, spec kafka.TopicSpec, state kafka.TopicState) {
	if lacking := lacks(state.Rights, topicNeeds); len(lacking) > 0 {
		n.fail(grant("topic "+spec.Name, lacking), "this user may not %s it", strings.Join(lacking, ", "))
	}
	if state.Drift != nil {
		n.fail("change it at the brokers with "+toolFor(state.Drift.Setting)+", or the setting of hooklog that asks for it; no service gets ready before",
			"%s is %s, and %s is needed", state.Drift.Setting, state.Drift.Have, state.Drift.Want)
	}
	switch {
	case state.MinInSync > state.Replication:
		n.warn("set min.insync.replicas to fewer than there are copies", "min.insync.replicas is %d of %d copies: brokers before Kafka 4 take no record", state.MinInSync, state.Replication)
	case state.InSync < state.MinInSync:
		n.fail("bring the missing brokers back", "%d copies are up to date, and min.insync.replicas is %d: nothing can be written", state.InSync, state.MinInSync)
	case state.InSync < state.Replication:
		n.warn("bring the missing brokers back", "%d of %d copies are up to date", state.InSync, state.Replication)
	}
	switch {
	case state.Replication == 1:
		n.warn("with three brokers or more, set replication 3 and min.insync.replicas 2", "there is one copy: the loss of a broker's disk loses it")
	case state.MinInSync == 1:
		n.warn("set min.insync.replicas 2", "min.insync.replicas is 1: a record counts as kept when a single copy has it")
	case state.MinInSync == state.Replication:
		n.warn("set min.insync.replicas below the number of copies", "min.insync.replicas is %d of %d copies: nothing can be written while one broker is away", state.MinInSync, state.Replication)
	}
	if state.Unclean {
		n.warn("set unclean.leader.election.enable false", "a copy that lacks confirmed records may become the leader, and they are lost")
	}
	if !slices.ContainsFunc(*n.list, func(f Finding) bool { return f.Check == n.check }) {
		n.ok("is as it must be; %d copies, %d of them needed to write", state.Replication, max(state.MinInSync, 1))
	}
}

// toolFor is what changes a setting of a topic.
func toolFor(setting string) string {
	switch setting {
	case "partitions":
		return "kafka-topics.sh"
	case "replication":
		return "kafka-reassign-partitions.sh"
	}
	return "kafka-configs.sh"
}

// rights are those beside the topics' own.
func (e *examination) rights(ctx context.Context, n *notes, log *kafka.Log) {
	before := len(*n.list)
	onGroup, err := log.GroupRights(ctx, kafka.GroupPipelines)
	switch lacking := lacks(onGroup, groupNeeds); {
	case refused(err) || len(lacking) > 0:
		n.fail(grant("group "+kafka.GroupPipelines, groupNeeds), "this user may not use the group %s; no pipeline would run", kafka.GroupPipelines)
	case err != nil:
		n.warn("look again when the brokers are well", "those on the group %s are not known: %v", kafka.GroupPipelines, err)
	}
	onCluster, err := log.ClusterRights(ctx)
	switch lacking := lacks(onCluster, clusterNeeds); {
	case err != nil && !refused(err):
		n.warn("look again when the brokers are well", "those on the cluster are not known: %v", err)
	case refused(err) || len(lacking) > 0:
		// A right on topics by prefix is enough, and brokers tell of none.
		n.warn("unless that user has CREATE on all topics that begin with svc., "+grant("the cluster", clusterNeeds),
			"this user may not make topics everywhere; new webhooks need %s…", record.EventTopicPrefix)
	}
	switch {
	case len(*n.list) > before:
	case onGroup == nil && onCluster == nil:
		n.ok("the brokers do not tell; nothing was refused")
	default:
		n.ok("this user may read, write and make topics, and use the group %s", kafka.GroupPipelines)
	}
}

// lacks are the needs that are not among the rights; none where the broker does
// not tell.
func lacks(rights kafka.Rights, needs []string) (lacking []string) {
	for _, need := range needs {
		if rights != nil && !slices.Contains(rights, need) {
			lacking = append(lacking, need)
		}
	}
	return lacking
}

func refused(err error) bool {
	return errors.Is(err, kerr.TopicAuthorizationFailed) || errors.Is(err, kerr.GroupAuthorizationFailed) ||
		errors.Is(err, kerr.ClusterAuthorizationFailed)
}

func grant(on string, operations []string) string {
	return "give broker-user the operations " + strings.Join(operations, ", ") + " on " + on + " (kafka-acls.sh)"
}

func judgeDisks(ctx context.Context, n *notes, log *kafka.Log) {
	disks, err := log.BrokerDisks(ctx)
	if err != nil || len(disks) == 0 {
		n.ok("the brokers do not tell this user")
		return
	}
	for _, d := range disks {
		switch {
		case refused(d.Err):
			n.ok("broker %d does not tell this user", d.Broker)
		case d.Err != nil:
			n.fail("look at the log lines of that broker", "broker %d cannot use %s: %v", d.Broker, d.Folder, d.Err)
		case d.Free < 0:
			n.ok("broker %d does not tell", d.Broker)
		case d.Free < lowFree:
			n.warn("make room there, or keep less: event-retention, call-retention", "broker %d has only %s free of %s in %s", d.Broker, size(d.Free), size(d.Total), d.Folder)
		default:
			n.ok("broker %d has %s free of %s", d.Broker, size(d.Free), size(d.Total))
		}
	}
}

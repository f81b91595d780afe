package kafka

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What is asked here is answered without creating or writing anything.

// Rights are the operations that a broker lets this client do, in Kafka's words,
// such as "READ". Nil means that the broker does not tell.
type Rights []string

func newRights(bits int32) Rights {
	if bits == math.MinInt32 {
		return nil
	}
	rights := Rights{}
	for _, operation := range kadm.DecodeACLOperations(bits) {
		rights = append(rights, operation.String())
	}
	return rights
}

// TopicState is how a topic is kept at this moment.
type TopicState struct {
	// Drift is the first setting that does not fit, or nil.
	Drift *DriftError
	// Replication and InSync are those of the partition with the fewest.
	Replication, InSync int
	// MinInSync is how many copies must take a record before it is confirmed; 0
	// where the broker does not tell.
	MinInSync int
	// Unclean says that a copy that lacks confirmed records may become the leader.
	Unclean bool
	Rights  Rights
}

// InspectTopic holds the topic against what EnsureTopic would want of it. A
// MissingTopicError says that it does not exist.
func (l *Log) InspectTopic(ctx context.Context, spec TopicSpec) (TopicState, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{metadataTopic(spec.Name)}
	req.IncludeTopicAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, l.client)
	if err != nil {
		return TopicState{}, unavailable(err)
	}
	if len(resp.Topics) != 1 {
		return TopicState{}, unavailable(errors.New("the broker answered for other topics than asked"))
	}
	topic := &resp.Topics[0]
	err = kerr.ErrorForCode(topic.ErrorCode)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return TopicState{}, &MissingTopicError{Topic: spec.Name}
	}
	if err != nil {
		return TopicState{}, unavailable(err)
	}
	info := newTopicInfo(topic)
	state := TopicState{Replication: info.replication, InSync: leastInSync(topic), Rights: newRights(topic.AuthorizedOperations)}

	configs, err := l.admin.DescribeTopicConfigs(ctx, spec.Name)
	if err != nil {
		return state, unavailable(err)
	}
	config, err := configs.On(spec.Name, nil)
	if err = errors.Join(err, config.Err); err != nil {
		return state, unavailable(err)
	}
	for i := range config.Configs {
		switch value := config.Configs[i].MaybeValue(); config.Configs[i].Key {
		case "min.insync.replicas":
			state.MinInSync, _ = strconv.Atoi(value)
		case "unclean.leader.election.enable":
			state.Unclean = value == "true"
		}
	}
	errors.As(spec.verify(spec.Name, info, config.Configs), &state.Drift)
	return state, nil
}

func leastInSync(topic *kmsg.MetadataResponseTopic) int {
	least := 0
	for i := range topic.Partitions {
		if n := len(topic.Partitions[i].ISR); i == 0 || n < least {
			least = n
		}
	}
	return least
}

// ClusterRights are those on the cluster as a whole.
func (l *Log) ClusterRights(ctx context.Context) (Rights, error) {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeClusterAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, l.client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return newRights(resp.ClusterAuthorizedOperations), nil
}

// GroupRights are those on a group, which need not exist.
func (l *Log) GroupRights(ctx context.Context, group string) (Rights, error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	req.IncludeAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, l.client)
	if err != nil {
		return nil, unavailable(err)
	}
	if len(resp.Groups) != 1 {
		return nil, unavailable(errors.New("the broker answered for other groups than asked"))
	}
	err = kerr.ErrorForCode(resp.Groups[0].ErrorCode)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return newRights(resp.Groups[0].AuthorizedOperations), nil
}

// BrokerDisk is the room where a broker keeps its log.
type BrokerDisk struct {
	Broker int32
	Folder string
	// Total and Free are in bytes, -1 where the broker does not tell.
	Total, Free int64
	// Err says that the broker cannot use the folder.
	Err error
}

// BrokerDisks asks every broker for its disks.
func (l *Log) BrokerDisks(ctx context.Context) ([]BrokerDisk, error) {
	// A broker leaves out the disks without any of the topics asked for: all are.
	described, err := l.admin.DescribeAllLogDirs(ctx, nil)
	if err != nil {
		return nil, unavailable(err)
	}
	var disks []BrokerDisk
	for _, folder := range described.Sorted() {
		disks = append(disks, BrokerDisk{folder.Broker, folder.Dir, folder.TotalBytes, folder.UsableBytes, folder.Err})
	}
	return disks, nil
}

// NewestTime is the latest time of a record on the topic; zero where it has none.
func (l *Log) NewestTime(ctx context.Context, topic string) (time.Time, error) {
	offsets, err := l.admin.ListMaxTimestampOffsets(ctx, topic)
	if err == nil {
		err = offsets.Error()
	}
	if err != nil {
		return time.Time{}, unavailable(err)
	}
	var newest time.Time
	offsets.Each(func(o kadm.ListedOffset) {
		if at := time.UnixMilli(o.Timestamp); o.Timestamp > 0 && at.After(newest) {
			newest = at
		}
	})
	return newest, nil
}

package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TopicSpec is what a topic must be like.
type TopicSpec struct {
	Name        string
	Partitions  int32
	Replication int16
	// Retention of 0 or less keeps records for ever.
	Retention time.Duration
	// Exact forbids more partitions than asked for; fewer never fit.
	Exact bool
}

// TopicInfo is what a topic is.
type TopicInfo struct {
	ID         TopicID
	Partitions int32

	replication int
	led         bool
}

// The settings that every topic is created with, and verified against.
const (
	settingMaxBytes       = "max.message.bytes"
	settingRetention      = "retention.ms"
	settingRetentionBytes = "retention.bytes"
	settingCleanup        = "cleanup.policy"
	settingTimestamps     = "message.timestamp.type"
)

func (s *TopicSpec) settings() map[string]*string {
	retention := "-1"
	if s.Retention > 0 {
		retention = strconv.FormatInt(s.Retention.Milliseconds(), 10)
	}
	return map[string]*string{
		settingMaxBytes:       kadm.StringPtr(strconv.Itoa(maxMessageBytes)),
		settingRetention:      &retention,
		settingRetentionBytes: kadm.StringPtr("-1"),
		settingCleanup:        kadm.StringPtr("delete"),
		settingTimestamps:     kadm.StringPtr("CreateTime"),
	}
}

// EnsureTopic creates the topic unless it exists, waits until the brokers know
// it, and verifies it: a *DriftError names the first setting that does not fit.
func (l *Log) EnsureTopic(ctx context.Context, spec TopicSpec) (TopicInfo, error) {
	outcome := l.ensure(ctx, &spec, []string{spec.Name})[spec.Name]
	return outcome.info, outcome.err
}

type ensured struct {
	info TopicInfo
	err  error
}

// ensure does EnsureTopic's work for many topics of one form at once, and has an
// outcome for each.
func (l *Log) ensure(ctx context.Context, spec *TopicSpec, names []string) map[string]ensured {
	outcomes := make(map[string]ensured, len(names))
	if len(names) == 0 {
		return outcomes
	}
	fail := func(err error) map[string]ensured {
		for _, name := range names {
			if _, done := outcomes[name]; !done {
				outcomes[name] = ensured{err: err}
			}
		}
		return outcomes
	}
	found, err := l.lookUp(ctx, names)
	if err != nil {
		return fail(err)
	}
	// Looking first spares an embedded broker from rewriting its list of topics.
	var missing []string
	for _, name := range names {
		if _, there := found[name]; !there {
			missing = append(missing, name)
		}
	}
	refused, err := l.create(ctx, spec, missing)
	if err != nil {
		return fail(err)
	}
	for name, err := range refused {
		outcomes[name] = ensured{err: err}
	}
	found, err = l.awaitLeaders(ctx, names, refused)
	if err != nil {
		return fail(err)
	}
	configs, err := l.admin.DescribeTopicConfigs(ctx, names...)
	if err != nil {
		return fail(unavailable(err))
	}
	for name, info := range found {
		config, err := configs.On(name, nil)
		if err = errors.Join(err, config.Err); err != nil {
			outcomes[name] = ensured{info, unavailable(err)}
			continue
		}
		outcomes[name] = ensured{info, spec.verify(name, info, config.Configs)}
	}
	return outcomes
}

// create makes the topics in one request and tells which were refused; that one
// exists by now is no refusal.
func (l *Log) create(ctx context.Context, spec *TopicSpec, names []string) (map[string]error, error) {
	if len(names) == 0 {
		return nil, nil
	}
	answers, err := l.admin.CreateTopics(ctx, spec.Partitions, spec.Replication, spec.settings(), names...)
	if err != nil {
		return nil, unavailable(err)
	}
	refused := make(map[string]error)
	for _, answer := range answers {
		if answer.Err != nil && !errors.Is(answer.Err, kerr.TopicAlreadyExists) {
			refused[answer.Topic] = unavailable(fmt.Errorf("%w %s", answer.Err, answer.ErrMessage))
		}
	}
	return refused, nil
}

// awaitLeaders waits until every partition of the topics has a leader, so that
// the first append finds one.
func (l *Log) awaitLeaders(ctx context.Context, names []string, but map[string]error) (map[string]TopicInfo, error) {
	for {
		found, err := l.lookUp(ctx, names)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(names, func(name string) bool { return !found[name].led && but[name] == nil }) {
			return found, nil
		}
		if err := pause(ctx, retryPause); err != nil {
			return nil, unavailable(err)
		}
	}
}

func (s *TopicSpec) verify(name string, info TopicInfo, configs []kadm.Config) error {
	partitions := strconv.Itoa(int(info.Partitions))
	switch {
	case info.Partitions < s.Partitions:
		return &DriftError{name, "partitions", "at least " + strconv.Itoa(int(s.Partitions)), partitions}
	case info.Partitions > s.Partitions && s.Exact:
		return &DriftError{name, "partitions", strconv.Itoa(int(s.Partitions)), partitions}
	case info.replication < int(s.Replication):
		return &DriftError{name, "replication", "at least " + strconv.Itoa(int(s.Replication)), strconv.Itoa(info.replication)}
	}
	have := make(map[string]string, len(configs))
	for i := range configs {
		have[configs[i].Key] = configs[i].MaybeValue()
	}
	want := s.settings()
	for _, setting := range []string{settingRetention, settingRetentionBytes, settingCleanup, settingTimestamps} {
		if have[setting] != *want[setting] {
			return &DriftError{name, setting, *want[setting], have[setting]}
		}
	}
	if n, err := strconv.Atoi(have[settingMaxBytes]); err != nil || n < maxMessageBytes {
		return &DriftError{name, settingMaxBytes, "at least " + *want[settingMaxBytes], have[settingMaxBytes]}
	}
	return nil
}

// describe looks one topic up; a MissingTopicError says that it does not exist.
func (l *Log) describe(ctx context.Context, name string) (TopicInfo, error) {
	found, err := l.lookUp(ctx, []string{name})
	if err != nil {
		return TopicInfo{}, err
	}
	info, there := found[name]
	if !there {
		return TopicInfo{}, &MissingTopicError{Topic: name}
	}
	return info, nil
}

// lookUp asks a broker, not a cache, and leaves out what does not exist.
func (l *Log) lookUp(ctx context.Context, names []string) (map[string]TopicInfo, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		req.Topics = append(req.Topics, metadataTopic(name))
	}
	resp, err := req.RequestWith(ctx, l.client)
	if err != nil {
		return nil, unavailable(err)
	}
	found := make(map[string]TopicInfo, len(names))
	for i := range resp.Topics {
		topic := &resp.Topics[i]
		err := kerr.ErrorForCode(topic.ErrorCode)
		if errors.Is(err, kerr.UnknownTopicOrPartition) || topic.Topic == nil {
			continue
		}
		if err != nil && !kerr.IsRetriable(err) {
			return nil, unavailable(err)
		}
		found[*topic.Topic] = newTopicInfo(topic)
	}
	return found, nil
}

func newTopicInfo(topic *kmsg.MetadataResponseTopic) TopicInfo {
	info := TopicInfo{ID: topic.TopicID, Partitions: int32(len(topic.Partitions)), led: topic.ErrorCode == 0}
	for i := range topic.Partitions {
		replicas := len(topic.Partitions[i].Replicas)
		if i == 0 || replicas < info.replication {
			info.replication = replicas
		}
		info.led = info.led && topic.Partitions[i].Leader >= 0
	}
	return info
}

func metadataTopic(name string) kmsg.MetadataRequestTopic {
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &name
	return topic
}

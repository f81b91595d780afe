package kafka_test

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

func TestATopicIsCreatedWithExplicitSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := kafka.TopicSpec{Name: record.TopicCall, Partitions: 3, Replication: 1, Retention: 90 * time.Minute}
	info, err := w.log.EnsureTopic(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if info.Partitions != 3 || info.ID == (kafka.TopicID{}) {
		t.Errorf("info %+v", info)
	}
	configs, err := w.admin.DescribeTopicConfigs(t.Context(), record.TopicCall)
	if err != nil {
		t.Fatal(err)
	}
	have := make(map[string]string)
	for _, c := range configs[0].Configs {
		have[c.Key] = c.MaybeValue()
	}
	for key, want := range map[string]string{
		"max.message.bytes": "10485760", "retention.ms": "5400000", "retention.bytes": "-1",
		"cleanup.policy": "delete", "message.timestamp.type": "CreateTime",
	} {
		if have[key] != want {
			t.Errorf("%s is %q, want %q", key, have[key], want)
		}
	}

	again, err := w.log.EnsureTopic(t.Context(), spec)
	if err != nil || again != info {
		t.Errorf("the second time: %+v, %v", again, err)
	}
}

func TestATopicThatDoesNotFitIsDrift(t *testing.T) {
	t.Parallel()
	good := map[string]*string{
		"max.message.bytes": kadm.StringPtr("10485760"), "retention.ms": kadm.StringPtr("-1"),
		"retention.bytes": kadm.StringPtr("-1"), "cleanup.policy": kadm.StringPtr("delete"),
		"message.timestamp.type": kadm.StringPtr("CreateTime"),
	}
	for name, c := range map[string]struct {
		partitions     int32
		setting, value string
		spec           kafka.TopicSpec
		want           *kafka.DriftError
	}{
		"nothing": {partitions: 2},
		"retention": {
			partitions: 2, setting: "retention.ms", value: "3600000",
			want: &kafka.DriftError{Setting: "retention.ms", Want: "-1", Have: "3600000"},
		},
		"a size limit": {
			partitions: 2, setting: "retention.bytes", value: "1000",
			want: &kafka.DriftError{Setting: "retention.bytes", Want: "-1", Have: "1000"},
		},
		"compaction": {
			partitions: 2, setting: "cleanup.policy", value: "compact",
			want: &kafka.DriftError{Setting: "cleanup.policy", Want: "delete", Have: "compact"},
		},
		"the broker's time": {
			partitions: 2, setting: "message.timestamp.type", value: "LogAppendTime",
			want: &kafka.DriftError{Setting: "message.timestamp.type", Want: "CreateTime", Have: "LogAppendTime"},
		},
		"small messages": {
			partitions: 2, setting: "max.message.bytes", value: "1048576",
			want: &kafka.DriftError{Setting: "max.message.bytes", Want: "at least 10485760", Have: "1048576"},
		},
		"larger messages are none": {partitions: 2, setting: "max.message.bytes", value: "20971520"},
		"more partitions are none": {partitions: 5},
		"fewer partitions": {
			partitions: 1, want: &kafka.DriftError{Setting: "partitions", Want: "at least 2", Have: "1"},
		},
		"more partitions where the number counts": {
			partitions: 3, spec: kafka.TopicSpec{Exact: true},
			want: &kafka.DriftError{Setting: "partitions", Want: "2", Have: "3"},
		},
		"fewer replicas": {
			partitions: 2, spec: kafka.TopicSpec{Replication: 3},
			want: &kafka.DriftError{Setting: "replication", Want: "at least 3", Have: "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			configs := make(map[string]*string)
			for k, v := range good {
				configs[k] = v
			}
			if c.setting != "" {
				configs[c.setting] = &c.value
			}
			if _, err := w.admin.CreateTopic(t.Context(), c.partitions, 1, configs, record.TopicCommand); err != nil {
				t.Fatal(err)
			}
			c.spec.Name, c.spec.Partitions = record.TopicCommand, 2
			info, err := w.log.EnsureTopic(t.Context(), c.spec)
			if info.Partitions != c.partitions {
				t.Errorf("info %+v", info)
			}
			if c.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			c.want.Topic = record.TopicCommand
			var drift *kafka.DriftError
			if !errors.As(err, &drift) || *drift != *c.want {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

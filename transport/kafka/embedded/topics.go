package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/kafka/embedded/disk"
)

// Nothing is ever deleted from the embedded log, and topics stay as they were
// made: a smaller log is always a loss. (Where retention empties a topic, the
// broker would begin at offset 0 again after a restart.)
var refusedRequests = []kmsg.Key{
	kmsg.DeleteTopics, kmsg.DeleteRecords, kmsg.CreatePartitions, kmsg.AlterConfigs, kmsg.IncrementalAlterConfigs,
}

var errRefusedRequest = errors.New("the embedded broker does not do this")

// superviseTopics puts our rules before the broker's own handling of requests.
func (b *Broker) superviseTopics() {
	for _, key := range refusedRequests {
		b.cluster.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
			b.cluster.KeepControl()
			return nil, errRefusedRequest, true
		})
	}
	b.listPending = func() {}
	b.cluster.ControlKey(int16(kmsg.CreateTopics), func(req kmsg.Request) (kmsg.Response, error, bool) {
		create := req.(*kmsg.CreateTopicsRequest)
		b.listPending()
		if err := b.mayCreate(create); err != nil {
			b.cluster.KeepControl()
			return refusal(create, err), nil, true
		}
		if !create.ValidateOnly {
			b.listNext(create)
		}
		return nil, nil, false
	})
}

// listNext lists the topics of a request before the next request of any kind is
// handled, so before their first record. The broker has no hook between its
// work and its answer; and it chooses the topics' ids, so that they cannot be
// listed before.
func (b *Broker) listNext(create *kmsg.CreateTopicsRequest) {
	before, _ := os.Stat(b.topicsFile()) // there is none before the first topic, after some crashes
	b.listPending = sync.OnceFunc(func() {
		if err := b.list(create, before); err != nil {
			b.log.Error("Topics could not be made durable and are taken back", "error", err)
			b.takeBack(create)
		}
	})
	list := b.listPending
	b.cluster.Control(func(next kmsg.Request) (kmsg.Response, error, bool) {
		if next != kmsg.Request(create) { // which comes by here too, before its work
			b.cluster.DropControl()
			list()
		}
		return nil, nil, false
	})
}

func (b *Broker) topicsFile() string {
	return filepath.Join(b.dir, disk.LogFolder, "topics.json")
}

func (b *Broker) list(create *kmsg.CreateTopicsRequest, before os.FileInfo) error {
	var made []disk.Topic
	for i := range create.Topics {
		info := b.cluster.TopicInfo(create.Topics[i].Topic)
		if info == nil || b.topics.Has(info.Topic) {
			continue
		}
		topic := disk.Topic{Name: info.Topic, ID: info.TopicID, Configs: make(map[string]string)}
		for key, value := range info.Configs {
			if value != nil {
				topic.Configs[key] = *value
			}
		}
		made = append(made, topic)
	}
	if len(made) == 0 {
		return nil
	}
	// The broker only logs that it could not write its list.
	after, err := os.Stat(b.topicsFile())
	if err != nil {
		return err
	}
	if before != nil && os.SameFile(before, after) {
		return errors.New("the broker did not write its list of topics")
	}
	return b.topics.Add(made)
}

func (b *Broker) takeBack(create *kmsg.CreateTopicsRequest) {
	for i := range create.Topics {
		if name := create.Topics[i].Topic; !b.topics.Has(name) {
			_ = b.cluster.DeleteTopic(name) // or it was never made
		}
	}
}

// limitTopics finds out how many topics this process can hold.
func (b *Broker) limitTopics() (err error) {
	if b.topicLimit, b.topicReason, err = topicLimit(); err != nil {
		return err
	}
	if n := b.topics.Count(record.EventTopicPrefix); n > b.topicLimit {
		return fmt.Errorf("the log has %d event topics and this process can hold %d: %s", n, b.topicLimit, b.topicReason)
	}
	return nil
}

// AdmitTopic is a fault of kind Unavailable when an event topic cannot be made
// any more; one that exists is always admitted.
func (b *Broker) AdmitTopic(name string) error {
	if b.topics.Has(name) || b.topics.Count(record.EventTopicPrefix) < b.topicLimit {
		return nil
	}
	return b.tooMany()
}

func (b *Broker) tooMany() error {
	return fault.New(fault.Unavailable, "The log cannot have more than %d event topics: %s.", b.topicLimit, b.topicReason).After(fullRetry)
}

// mayCreate checks what is to be made.
func (b *Broker) mayCreate(create *kmsg.CreateTopicsRequest) error {
	count := b.topics.Count(record.EventTopicPrefix)
	for i := range create.Topics {
		t := &create.Topics[i]
		if b.topics.Has(t.Topic) {
			continue
		}
		if strings.HasPrefix(t.Topic, record.EventTopicPrefix) {
			if count++; count > b.topicLimit {
				return b.tooMany()
			}
		}
		if t.NumPartitions > 1 || len(t.ReplicaAssignment) > 0 {
			return fmt.Errorf("topic %s: the embedded log has one partition a topic", t.Topic)
		}
		for _, c := range t.Configs {
			if !keepsRecords(c.Name, c.Value) {
				return fmt.Errorf("topic %s: the embedded log keeps records for ever; %s=%s is not for it", t.Topic, c.Name, *c.Value)
			}
		}
	}
	return nil
}

func keepsRecords(name string, value *string) bool {
	switch {
	case value == nil:
		return true
	case name == "retention.ms" || name == "retention.bytes":
		return *value == "-1"
	case name == "cleanup.policy":
		return *value == "delete"
	}
	return true
}

// refusal answers a request to make topics with a reason for each.
func refusal(create *kmsg.CreateTopicsRequest, err error) kmsg.Response {
	resp := create.ResponseKind().(*kmsg.CreateTopicsResponse)
	for i := range create.Topics {
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic = create.Topics[i].Topic
		t.ErrorCode = kerr.PolicyViolation.Code
		t.ErrorMessage = kmsg.StringPtr(err.Error())
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

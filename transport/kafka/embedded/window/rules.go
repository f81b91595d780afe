package window

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	eventTopics = "svc.event."
	callTopic   = "svc.call"

	// A fetch gives at least one whole batch, so these hold back nothing; they
	// bound the memory of an answer and the time the broker remembers a client
	// that has left.
	maxFetchBytes      = 16 << 20
	maxFetchWaitMillis = 30_000
)

// ownGroups begin the names of the consumer groups of the service, and of those
// that it may have one day.
var ownGroups = []string{"hooklog-", "svc."}

var (
	errReadOnly    = errors.New("request to write")
	errHiddenTopic = errors.New("request for a topic that is not visible")
	errOwnGroup    = errors.New("request for a consumer group of the service")
)

func isVisible(topic string) bool {
	return topic == callTopic || len(topic) > len(eventTopics) && strings.HasPrefix(topic, eventTopics)
}

// isForeign tells the clients' consumer groups from the service's own.
func isForeign(group string) bool {
	return !slices.ContainsFunc(ownGroups, func(prefix string) bool { return strings.HasPrefix(group, prefix) })
}

// check holds requests that pass on unchanged to the rules. Metadata never
// shows a hidden topic and no coordinator is named for an own group, so a
// client that breaks a rule here is not an honest one and is cut off.
func check(body kmsg.Request) error {
	switch body := body.(type) {
	case *kmsg.FetchRequest:
		return checkFetch(body)
	case *kmsg.ListOffsetsRequest:
		return checkTopics(body.Topics, func(t kmsg.ListOffsetsRequestTopic) string { return t.Topic })
	case *kmsg.OffsetCommitRequest:
		if err := checkGroup(body.Group); err != nil {
			return err
		}
		return checkTopics(body.Topics, func(t kmsg.OffsetCommitRequestTopic) string { return t.Topic })
	case *kmsg.OffsetFetchRequest:
		if err := checkGroup(body.Group); err != nil {
			return err
		}
		return checkTopics(body.Topics, func(t kmsg.OffsetFetchRequestTopic) string { return t.Topic })
	case *kmsg.JoinGroupRequest:
		return checkJoin(body)
	case *kmsg.SyncGroupRequest:
		return checkGroup(body.Group)
	case *kmsg.HeartbeatRequest:
		return checkGroup(body.Group)
	case *kmsg.LeaveGroupRequest:
		return checkGroup(body.Group)
	}
	return fmt.Errorf("API key %d is not served after login", body.Key())
}

func checkTopics[T any](topics []T, name func(T) string) error {
	for _, topic := range topics {
		if !isVisible(name(topic)) {
			return errHiddenTopic
		}
	}
	return nil
}

func checkGroup(group string) error {
	if !isForeign(group) {
		return errOwnGroup
	}
	return nil
}

// checkFetch also takes away fetch sessions: they are the broker's, known by a
// number that can be guessed, and the service's own read hidden topics. A
// client that is given none asks in full each time.
func checkFetch(req *kmsg.FetchRequest) error {
	if req.SessionID != 0 {
		return errors.New("fetch of a session")
	}
	req.SessionEpoch = -1
	req.ForgottenTopics = nil
	req.MaxBytes = min(req.MaxBytes, maxFetchBytes)
	req.MinBytes = min(req.MinBytes, req.MaxBytes)
	req.MaxWaitMillis = min(req.MaxWaitMillis, maxFetchWaitMillis)

	type place struct {
		topic     string
		partition int32
	}
	seen := make(map[place]struct{})
	for _, topic := range req.Topics {
		if !isVisible(topic.Topic) {
			return errHiddenTopic
		}
		for i := range topic.Partitions {
			partition := &topic.Partitions[i]
			partition.PartitionMaxBytes = min(partition.PartitionMaxBytes, maxFetchBytes)
			// The broker walks its index once for every mention.
			at := place{topic.Topic, partition.Partition}
			if _, twice := seen[at]; twice {
				return errors.New("fetch names a partition twice")
			}
			seen[at] = struct{}{}
		}
	}
	return nil
}

// checkJoin keeps the embedded broker alive: it counts the members that know a
// protocol by counting names, and panics when none is known to all, as when a
// member has none or names one twice.
func checkJoin(req *kmsg.JoinGroupRequest) error {
	if len(req.Protocols) == 0 {
		return errors.New("join without a protocol")
	}
	seen := make(map[string]struct{}, len(req.Protocols))
	for _, protocol := range req.Protocols {
		if _, twice := seen[protocol.Name]; twice {
			return errors.New("join names a protocol twice")
		}
		seen[protocol.Name] = struct{}{}
	}
	return checkGroup(req.Group)
}

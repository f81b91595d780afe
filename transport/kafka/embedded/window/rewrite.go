package window

import (
	"errors"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const groupCoordinator = 0

// metadata shows the visible topics and the window in the broker's place. A
// hidden topic is answered exactly as one that does not exist, and asking never
// creates one.
func (s session) metadata(req request, body *kmsg.MetadataRequest) ([]byte, error) {
	hidden := make(map[string]struct{})
	body.Topics = slices.DeleteFunc(body.Topics, func(topic kmsg.MetadataRequestTopic) bool {
		if topic.Topic == nil || isVisible(*topic.Topic) {
			return false
		}
		hidden[*topic.Topic] = struct{}{}
		return true
	})
	body.AllowAutoTopicCreation = false
	// What the broker would allow is not what the window allows.
	body.IncludeClusterAuthorizedOperations = false
	body.IncludeTopicAuthorizedOperations = false

	frame, err := s.ask(req)
	if err != nil {
		return nil, err
	}
	resp := body.ResponseKind().(*kmsg.MetadataResponse)
	if err := req.parseResponse(frame, resp); err != nil {
		return nil, err
	}
	for i := range resp.Brokers {
		resp.Brokers[i].Host, resp.Brokers[i].Port = s.host(), s.port()
	}
	resp.Topics = slices.DeleteFunc(resp.Topics, func(topic kmsg.MetadataResponseTopic) bool {
		return topic.Topic == nil || !isVisible(*topic.Topic)
	})
	for name := range hidden {
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic = kmsg.StringPtr(name)
		topic.ErrorCode = kerr.UnknownTopicOrPartition.Code
		resp.Topics = append(resp.Topics, topic)
	}
	return req.responseFrame(resp), nil
}

// findCoordinator names the window as the coordinator of a foreign group.
func (s session) findCoordinator(req request, body *kmsg.FindCoordinatorRequest) ([]byte, error) {
	if body.CoordinatorType != groupCoordinator {
		return nil, errors.New("coordinator of something else than a consumer group")
	}
	resp := body.ResponseKind().(*kmsg.FindCoordinatorResponse)
	if !isForeign(body.CoordinatorKey) {
		resp.ErrorCode = kerr.GroupAuthorizationFailed.Code
		resp.ErrorMessage = kmsg.StringPtr("groups that begin with " + strings.Join(ownGroups, " or ") + " are the service's own")
		resp.NodeID, resp.Port = -1, -1
		return req.responseFrame(resp), nil
	}
	frame, err := s.ask(req)
	if err != nil {
		return nil, err
	}
	if err := req.parseResponse(frame, resp); err != nil {
		return nil, err
	}
	resp.Host, resp.Port = s.host(), s.port()
	return req.responseFrame(resp), nil
}

// offsetFetch gives "nothing committed" for a group that does not exist yet, as
// Kafka does; the embedded broker answers with an error, which consumers that
// choose their partitions themselves take for the end.
func (s session) offsetFetch(req request, body *kmsg.OffsetFetchRequest) ([]byte, error) {
	if err := check(body); err != nil {
		return nil, err
	}
	frame, err := s.ask(req)
	if err != nil {
		return nil, err
	}
	resp := body.ResponseKind().(*kmsg.OffsetFetchResponse)
	if err := req.parseResponse(frame, resp); err != nil {
		return nil, err
	}
	if len(resp.Topics) > 0 || resp.ErrorCode != 0 && resp.ErrorCode != kerr.GroupIDNotFound.Code {
		return frame, nil
	}
	resp.ErrorCode = 0
	for _, asked := range body.Topics {
		topic := kmsg.NewOffsetFetchResponseTopic()
		topic.Topic = asked.Topic
		for _, number := range asked.Partitions {
			partition := kmsg.NewOffsetFetchResponseTopicPartition()
			partition.Partition, partition.Offset = number, -1
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return req.responseFrame(resp), nil
}

// refuseProduce tells a producer that it may not write, so that it gives up; by
// a mere end of the connection it would be led to try again for minutes.
func refuseProduce(req request, body *kmsg.ProduceRequest) []byte {
	if body.Acks == 0 {
		return nil // an answer is not expected
	}
	resp := body.ResponseKind().(*kmsg.ProduceResponse)
	for _, asked := range body.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic = asked.Topic
		for _, to := range asked.Partitions {
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition = to.Partition
			partition.ErrorCode = kerr.TopicAuthorizationFailed.Code
			partition.BaseOffset = -1
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return req.responseFrame(resp)
}

func (s session) host() string { return s.advertised.IP.String() }

func (s session) port() int32 { return int32(s.advertised.Port) }

package window

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const maxApiVersions = 3

// served is everything a client may ask for. The upper ends are the last
// versions before topics are named by ids and before flexible encoding, the
// lower ends the first that current clients and message format v2 need; all of
// them are served by the embedded broker. JoinGroup 0 is left out because it has
// no rebalance timeout, without which the embedded broker drops the member at
// once. Two entries stand here for librdkafka, which reads features from the
// list: no Produce 3, no message format v2, not even to read; no SASLHandshake
// 0, no SASL. Both are refused when they come.
var served = []struct {
	key      kmsg.Key
	min, max int16
}{
	{kmsg.Produce, 3, 3},
	{kmsg.Fetch, 4, 11},
	{kmsg.ListOffsets, 1, 5},
	{kmsg.Metadata, 4, 8},
	{kmsg.OffsetCommit, 2, 7},
	{kmsg.OffsetFetch, 1, 5},
	{kmsg.FindCoordinator, 0, 2},
	{kmsg.JoinGroup, 1, 5},
	{kmsg.Heartbeat, 0, 3},
	{kmsg.LeaveGroup, 0, 3},
	{kmsg.SyncGroup, 0, 3},
	{kmsg.SASLHandshake, 0, 1},
	{kmsg.ApiVersions, 0, maxApiVersions},
	{kmsg.SASLAuthenticate, 0, 1},
}

func isServed(key, version int16) bool {
	for _, api := range served {
		if int16(api.key) == key {
			return api.min <= version && version <= api.max
		}
	}
	return false
}

// apiVersions answers with the served list; a version above ours gets the
// version 0 error that tells the client which one to repeat with.
func apiVersions(req *kmsg.ApiVersionsRequest) *kmsg.ApiVersionsResponse {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.Version = req.Version
	unsupported := req.Version > maxApiVersions
	if unsupported {
		resp.Version = 0
		resp.ErrorCode = kerr.UnsupportedVersion.Code
	}
	for _, api := range served {
		if unsupported && api.key != kmsg.ApiVersions {
			continue
		}
		key := kmsg.NewApiVersionsResponseApiKey()
		key.ApiKey, key.MinVersion, key.MaxVersion = int16(api.key), api.min, api.max
		resp.ApiKeys = append(resp.ApiKeys, key)
	}
	return resp
}

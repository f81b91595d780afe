package access

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"hooklog/domain/record"
)

// The wire names and versions of what svc.access holds about log-ins.
const (
	LoginType    = "access.login/1"
	FailuresType = "access.failures/1"
)

// MaxNetworks is how many networks one record of failures tells apart.
const MaxNetworks = 64

// Login is the record of tokens that were given to a user. The tokens are not
// in it.
type Login struct {
	ID        string    `json:"id"`
	Principal string    `json:"principal"`
	Client    string    `json:"client"`
	Grant     string    `json:"grant"`
	Scope     string    `json:"scope,omitempty"`
	Address   string    `json:"address,omitempty"`
	Time      time.Time `json:"time"`
}

// Encode gives the record to append, for one of n partitions.
func (l Login) Encode(n int32) (record.Record, error) {
	return encodeAccess(LoginType, l.ID, n, l.Time, l)
}

// Failures counts the log-ins that one instance refused in about a minute. It
// has counts only, so that no flood can make the log grow, and no names: people
// type passwords where the name belongs.
type Failures struct {
	// Instance names the process that refused; it is the record's key.
	Instance string    `json:"instance"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	// Networks are those the attempts came from, at most MaxNetworks, ordered.
	Networks []Network `json:"networks,omitempty"`
	// Rest counts the attempts of all other networks.
	Rest map[string]int64 `json:"rest,omitempty"`
}

// Network is the failed log-ins of one network.
type Network struct {
	// Prefix is the network: /24 of IPv4, /48 of IPv6.
	Prefix netip.Prefix `json:"prefix"`
	// Reasons counts by the names of the fault kinds.
	Reasons map[string]int64 `json:"reasons"`
}

// Encode gives the record to append, for one of n partitions.
func (f Failures) Encode(n int32) (record.Record, error) {
	return encodeAccess(FailuresType, f.Instance, n, f.To, f)
}

func encodeAccess(kind, key string, n int32, at time.Time, v any) (record.Record, error) {
	value, err := json.Marshal(v)
	if err != nil {
		return record.Record{}, fmt.Errorf("encode %s: %w", kind, err)
	}
	return record.Record{
		Position: record.Position{Topic: record.TopicAccess, Partition: record.Spread(key, n)},
		Time:     at,
		Key:      []byte(key),
		Headers:  []record.Header{{Key: record.HeaderType, Value: []byte(kind)}},
		Value:    value,
	}, nil
}

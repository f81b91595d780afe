package app

import (
	"encoding/json"
	"log/slog"

	"hooklog/cmd/settings"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/transport/kafka"
	"hooklog/transport/keyring"
)

// OnBrokers is how a start speaks to the brokers, and which topics it wants there.
func OnBrokers(cfg settings.Config, log *slog.Logger) (kafka.Config, []kafka.TopicSpec, error) {
	how, err := logConfig(cfg, nil, log)
	return how, ownTopics(cfg), err
}

// RingFits reports whether the ring opens the check value that stands on the log.
// It is not known from records without the first command.
func RingFits(ring *keyring.Ring, first []record.Record) (fits, known bool) {
	for i := range first {
		command, err := registry.DecodeCommand(&first[i])
		if err != nil || command.Name != registry.ClusterInit {
			continue
		}
		var brought registry.InitParams
		if json.Unmarshal(command.Params, &brought) != nil {
			continue
		}
		return opensCheck(ring, command.ID, brought.Check), true
	}
	return false, false
}

// opensCheck reports that the ring sealed the check value.
func opensCheck(ring *keyring.Ring, commandID, check string) bool {
	plain, err := ring.Open(checkField, commandID, secret.NewSealed(check))
	return err == nil && string(plain) == checkValue
}

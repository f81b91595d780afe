//go:build faults

package faults_test

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

// shortened is a stopped service, on brokers that an operator has dealt with.
type shortened struct {
	brokers []string
	args    []string
	folder  folder
	token   string
	calls   []result
}

// shorten runs a service, stops it, and lets change take something from its log.
func shorten(t *testing.T, change func(admin *kadm.Client, s shortened)) shortened {
	t.Helper()
	s := shortened{brokers: emptyBrokers(t), args: onBrokers(t)}
	s.folder = folder(s.args[1])
	p := serve(t, s.brokers, s.args...)
	s.token = p.put(t, "eventKey=webhook.early").UUID
	p.put(t, "eventKey=webhook.other")
	for range counts(20, 200) {
		s.calls = append(s.calls, p.called(t, s.token, []byte("early")))
	}
	// All of them must be folded before the service stops.
	pollAll(t, p.client, s.calls, http.StatusOK)
	p.terminate(t)
	change(kadm.NewClient(kafkaLog{brokers: s.brokers}.client(t)), s)
	return s
}

// verb is a command line for the service's brokers.
func (s shortened) verb(name string, more ...string) []string {
	args := append([]string{name, "--brokers", strings.Join(s.brokers, ","), "--replication", "1", "--partitions", "3"}, s.args...)
	return append(args, more...)
}

// deleteUpTo removes the records of a topic before the offset, where there are
// as many; -1 removes all.
func deleteUpTo(t *testing.T, admin *kadm.Client, topic string, offset int64) {
	t.Helper()
	ends, err := admin.ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	upTo := kadm.Offsets{}
	ends.Each(func(end kadm.ListedOffset) {
		at := offset
		if at < 0 {
			at = end.Offset
		}
		upTo.AddOffset(topic, end.Partition, at, -1)
	})
	deleted, err := admin.DeleteRecords(t.Context(), upTo)
	if err == nil {
		err = deleted.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestBrokersWithoutTheFirstCommands(t *testing.T) {
	alongside(t)
	s := shorten(t, func(admin *kadm.Client, _ shortened) { deleteUpTo(t, admin, record.TopicCommand, 2) })
	before := s.folder.dump(t)
	for _, args := range [][]string{
		s.verb("serve"), s.verb("rebuild"), s.verb("rebuild", "--accept-truncation"),
	} {
		refused(t, args, "the log starts at offset 2", "restore the log from a backup, then run: hooklog rebuild")
	}
	if s.folder.dump(t) != before {
		t.Errorf("what was folded has changed, and cannot be folded again")
	}
	// Who has no checkpoint is refused as well.
	s.folder.dropState(t)
	refused(t, s.verb("serve"), "the log starts at offset 2", "hooklog rebuild")
}

func TestBrokersWhereCallsHaveExpired(t *testing.T) {
	alongside(t)
	s := shorten(t, func(admin *kadm.Client, s shortened) {
		// More calls, which this instance never folds before they expire.
		p := serve(t, s.brokers, append(s.args[2:], "--data-dir", t.TempDir())...)
		for range counts(20, 200) {
			p.called(t, s.token, []byte("expired"))
		}
		p.terminate(t)
		deleteUpTo(t, admin, record.TopicCall, -1)
	})
	p := serve(t, s.brokers, s.args...)
	pollAll(t, p.client, s.calls, http.StatusOK) // these were folded before
	p.works(t, "webhook.afterwards")
	p.terminate(t)

	s.folder.dropState(t) // what the log has not, nobody can fold
	p = serve(t, s.brokers, s.args...)
	pollAll(t, p.client, s.calls, http.StatusGone)
	p.called(t, s.token, []byte("goes on"))
	p.terminate(t)
}

func TestBrokersWithAnotherTopicOfTheName(t *testing.T) {
	for _, topic := range []string{record.TopicCall, record.TopicCommand} {
		t.Run(topic, func(t *testing.T) {
			alongside(t)
			s := shorten(t, func(admin *kadm.Client, s shortened) {
				if _, err := admin.DeleteTopics(t.Context(), topic); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the topic is gone", func() bool {
					topics, err := admin.ListTopics(t.Context(), topic)
					return err == nil && !topics.Has(topic)
				})
				// Another instance makes it anew.
				p := serve(t, s.brokers, append(s.args[2:], "--data-dir", t.TempDir())...)
				p.works(t, "webhook.anew")
				p.terminate(t)
			})
			const reason = "the topic is another one than was folded"
			before := s.folder.dump(t)
			refused(t, s.verb("serve"), reason, acceptHint)
			refused(t, s.verb("rebuild"), reason, acceptHint)
			if s.folder.dump(t) != before {
				t.Errorf("what was folded has changed")
			}
			rebuilt(t, s.verb("rebuild", "--accept-truncation")[1:]...)
			said := accepted(t, commandsOn(t, kafka.Config{Brokers: s.brokers, ClientID: "test", Log: slog.New(slog.DiscardHandler)}))
			if len(said) != 1 || !strings.Contains(said[0], reason) || !strings.Contains(said[0], topic) {
				t.Errorf("on the record is %q", said)
			}
			if topic == record.TopicCommand {
				s.unpin(t)
			}
			p := serve(t, s.brokers, s.args...)
			p.works(t, "webhook.afterwards")
			p.terminate(t)
		})
	}
}

// unpin removes the key of the checkpoints: commands that were made anew brought
// another one, and that is not taken silently.
func (s shortened) unpin(t *testing.T) {
	t.Helper()
	refused(t, s.verb("serve"), "holds another key", "remove the file")
	if err := os.Remove(filepath.Join(string(s.folder), "keys", "checkpoint.pub")); err != nil {
		t.Fatal(err)
	}
}

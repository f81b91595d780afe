package doctor_test

import (
	"crypto/tls"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"hooklog/cmd/doctor"
	"hooklog/cmd/settings"
	"hooklog/domain/secret"
	"hooklog/transport/kafka"
	"hooklog/transport/keyring"
)

func simulate(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// onBrokers are the settings of a service on the brokers.
func onBrokers(t *testing.T, brokers ...string) settings.Config {
	t.Helper()
	cfg := healthy(t)
	cfg.Brokers, cfg.Replication, cfg.Partitions = brokers, 1, 2
	cfg.KeyRing = filepath.Join(t.TempDir(), "ring")
	if err := keyring.Create(cfg.KeyRing); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func administrator(t *testing.T, options ...kgo.Opt) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

func TestBrokersInOrder(t *testing.T) {
	cluster := simulate(t)
	cfg := onBrokers(t, cluster.ListenAddrs()...)
	f := examine(t, cfg)
	f.wantNone(doctor.Failed)
	f.want("brokers", doctor.OK, cfg.Brokers[0]+" answers")
	f.want("svc.command", doctor.OK, "is not there yet")
	f.want("key ring", doctor.OK, "nothing yet to hold it against")
	f.want("permissions", doctor.OK, "read, write and make topics")
	admin := administrator(t, kgo.SeedBrokers(cfg.Brokers...))
	if topics, err := admin.ListTopics(t.Context()); err != nil || len(topics) != 0 {
		t.Fatalf("the look has made topics: %v, %v", topics.Names(), err)
	}

	_, stop := serve(t, cfg)
	stop()
	f = examine(t, cfg)
	f.wantNone(doctor.Failed)
	f.want("key ring", doctor.OK, "is the one of this log")
	f.want("svc.call", doctor.Warning, "one copy")
	f.want("clock", doctor.OK, "from the others")
	f.want("broker disk", doctor.OK, "free of")

	t.Run("with the ring of another log", func(t *testing.T) {
		other := cfg
		other.KeyRing = onBrokers(t, cfg.Brokers...).KeyRing
		examine(t, other).want("key ring", doctor.Failed, "is not the ring of this log")
	})
	t.Run("with a topic that has other settings", func(t *testing.T) {
		set := kadm.AlterConfig{Op: kadm.SetConfig, Name: "retention.ms", Value: kadm.StringPtr("1000")}
		if _, err := admin.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{set}, "svc.command"); err != nil {
			t.Fatal(err)
		}
		examine(t, cfg).want("svc.command", doctor.Failed, "retention.ms is 1000, and -1 is needed")
	})
	t.Run("with a topic that is gone", func(t *testing.T) {
		if _, err := admin.DeleteTopics(t.Context(), "svc.call"); err != nil {
			t.Fatal(err)
		}
		examine(t, cfg).want("topics", doctor.Warning, "svc.call not")
	})
	t.Run("with a clock that is behind the others", func(t *testing.T) {
		examineAt(t, cfg, func() time.Time { return time.Now().Add(-time.Hour) }).want("clock", doctor.Warning, "ahead")
	})
}

func TestHowATopicIsKept(t *testing.T) {
	sound := kafka.TopicState{Replication: 3, InSync: 3, MinInSync: 2}
	for name, tc := range map[string]struct {
		change func(*kafka.TopicState)
		status doctor.Status
		text   string
	}{
		"in order":                   {func(*kafka.TopicState) {}, doctor.OK, "3 copies, 2 of them"},
		"a copy behind":              {func(s *kafka.TopicState) { s.InSync = 2 }, doctor.Warning, "2 of 3 copies"},
		"too few copies to write":    {func(s *kafka.TopicState) { s.InSync = 1 }, doctor.Failed, "nothing can be written"},
		"one copy confirms":          {func(s *kafka.TopicState) { s.MinInSync = 1 }, doctor.Warning, "min.insync.replicas 2"},
		"every copy must confirm":    {func(s *kafka.TopicState) { s.MinInSync = 3 }, doctor.Warning, "while one broker is away"},
		"more must confirm than are": {func(s *kafka.TopicState) { s.MinInSync = 4 }, doctor.Warning, "before Kafka 4"},
		"one copy":                   {func(s *kafka.TopicState) { s.Replication, s.InSync, s.MinInSync = 1, 1, 1 }, doctor.Warning, "one copy"},
		"unclean elections":          {func(s *kafka.TopicState) { s.Unclean = true }, doctor.Warning, "unclean"},
		"drift":                      {func(s *kafka.TopicState) { s.Drift = &kafka.DriftError{Setting: "x", Want: "1", Have: "2"} }, doctor.Failed, "x is 2, and 1"},
		"a right that is not given":  {func(s *kafka.TopicState) { s.Rights = kafka.Rights{"READ", "DESCRIBE", "DESCRIBE_CONFIGS"} }, doctor.Failed, "may not WRITE"},
		"no word about the rights":   {func(s *kafka.TopicState) { s.Rights = nil }, doctor.OK, ""},
		"all rights that are needed": {func(s *kafka.TopicState) { s.Rights = kafka.Rights{"READ", "WRITE", "DESCRIBE", "DESCRIBE_CONFIGS"} }, doctor.OK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			state := sound
			tc.change(&state)
			found{t, doctor.Report{Findings: doctor.JudgeTopic(state)}}.want("svc.call", tc.status, tc.text)
		})
	}
}

func TestWhereTheWayToABrokerEnds(t *testing.T) {
	t.Run("nobody listens", func(t *testing.T) {
		f := examine(t, onBrokers(t, freeAddress(t)))
		f.want("brokers", doctor.Failed, "fails at TCP")
		f.want("key ring", doctor.Warning, "could not be held against the log")
	})
	t.Run("one of two listens", func(t *testing.T) {
		f := examine(t, onBrokers(t, freeAddress(t), simulate(t).ListenAddrs()[0]))
		f.want("brokers", doctor.Failed, "fails at TCP")
		f.want("brokers", doctor.OK, "answers")
		f.want("svc.command", doctor.OK, "")
	})
	certFile, keyFile := writeCertificate(t, time.Now().Add(day))
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	secured := simulate(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
	overTLS := func(t *testing.T, authority string) settings.Config {
		cfg := onBrokers(t, secured.ListenAddrs()...)
		cfg.BrokerTLS, cfg.BrokerTLSCA = true, authority
		return cfg
	}
	t.Run("TLS with its authority", func(t *testing.T) {
		examine(t, overTLS(t, certFile)).want("brokers", doctor.OK, "answers")
	})
	t.Run("TLS with another authority", func(t *testing.T) {
		other, _ := writeCertificate(t, time.Now().Add(day))
		examine(t, overTLS(t, other)).want("brokers", doctor.Failed, "fails at TLS")
	})
	t.Run("a file without an authority", func(t *testing.T) {
		examine(t, overTLS(t, keyFile)).want("brokers", doctor.Failed, "holds no certificate")
	})
	t.Run("in the clear, and the broker speaks TLS", func(t *testing.T) {
		examine(t, onBrokers(t, secured.ListenAddrs()...)).want("brokers", doctor.Failed, "fails at Kafka")
	})
}

func TestABrokerSendsItsClientsWhereNobodyIs(t *testing.T) {
	cluster := simulate(t)
	cluster.ControlKey(kmsg.Metadata.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		node := kmsg.NewMetadataResponseBroker()
		node.Host, node.Port = "127.0.0.1", 1
		resp.Brokers = append(resp.Brokers, node)
		return resp, nil, true
	})
	examine(t, onBrokers(t, cluster.ListenAddrs()...)).want("brokers", doctor.Failed, "advertised.listeners")
}

func TestWhatTheBrokersLetTheUserDo(t *testing.T) {
	const password, rootPassword = "the password at the brokers", "the password of root"
	may := func(resource kmsg.ACLResourceType, name string, operation kmsg.ACLOperation) kfake.ACL {
		return kfake.ACL{Resource: resource, Name: name, Pattern: kmsg.ACLResourcePatternTypePrefixed, Operation: operation, Allow: true}
	}
	cluster := simulate(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "root", rootPassword),
		kfake.User("PLAIN", "reader", password, may(kmsg.ACLResourceTypeTopic, "svc.", kmsg.ACLOperationRead),
			may(kmsg.ACLResourceTypeTopic, "svc.", kmsg.ACLOperationDescribeConfigs)),
		kfake.User("PLAIN", "nobody", password))
	admin := administrator(t, kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.SASL(plain.Auth{User: "root", Pass: rootPassword}.AsMechanism()))
	if _, err := admin.CreateTopic(t.Context(), 1, 1, nil, "svc.command"); err != nil {
		t.Fatal(err)
	}
	as := func(t *testing.T, user, password string) found {
		cfg := onBrokers(t, cluster.ListenAddrs()...)
		cfg.BrokerSASL, cfg.BrokerUser, cfg.BrokerPassword = "plain", user, secret.NewPassword(password)
		f := examine(t, cfg)
		if strings.Contains(f.String(), password) {
			t.Errorf("the report shows the password:\n%s", f)
		}
		return f
	}
	t.Run("with a wrong password", func(t *testing.T) {
		as(t, "reader", "no such password").want("brokers", doctor.Failed, "fails at log-in")
	})
	t.Run("without a log-in", func(t *testing.T) {
		examine(t, onBrokers(t, cluster.ListenAddrs()...)).want("brokers", doctor.Failed, "fails at log-in")
	})
	t.Run("as somebody who may read", func(t *testing.T) {
		f := as(t, "reader", password)
		f.want("svc.command", doctor.Failed, "may not WRITE")
		f.want("permissions", doctor.Failed, "group hooklog-pipelines")
		f.want("permissions", doctor.Warning, "CREATE")
	})
	t.Run("as somebody who may nothing", func(t *testing.T) {
		as(t, "nobody", password).want("svc.command", doctor.Failed, "do not let this user look")
	})
	t.Run("as somebody who may everything", func(t *testing.T) {
		as(t, "root", rootPassword).want("permissions", doctor.OK, "")
	})
}

package doctor_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/transport/keyring"
)

// brokersVariable names real brokers to run the suite against; without it, the
// brokers are simulated on loopback.
const brokersVariable = "HOOKLOG_TEST_BROKERS"

// emptyBrokers gives brokers without any topic of a service, and an administrator.
func emptyBrokers(t *testing.T) (brokers string, admin *kadm.Client) {
	t.Helper()
	brokers = os.Getenv(brokersVariable)
	if brokers == "" {
		brokers = strings.Join(simulate(t), ",")
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(brokers, ",")...), kgo.MetadataMinAge(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	admin = kadm.NewClient(client)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		topics, err := admin.ListTopics(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var own []string
		for _, name := range topics.Names() {
			if strings.HasPrefix(name, "svc.") {
				own = append(own, name)
			}
		}
		if len(own) == 0 {
			return brokers, admin
		}
		if _, err := admin.DeleteTopics(ctx, own...); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func simulate(t *testing.T, options ...kfake.Opt) []string {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs()
}

// topicsNow is everything about the service's topics and groups.
func topicsNow(t *testing.T, admin *kadm.Client) string {
	t.Helper()
	topics, err := admin.ListTopics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ends, err := admin.ListEndOffsets(t.Context(), topics.Names()...)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := admin.ListGroups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := []string{fmt.Sprint(groups.Groups())}
	for _, topic := range topics.Sorted() {
		all = append(all, fmt.Sprint(topic.Topic, topic.ID, len(topic.Partitions)))
		configs, err := admin.DescribeTopicConfigs(t.Context(), topic.Topic)
		if err != nil || len(configs) != 1 {
			t.Fatal(configs, err)
		}
		for _, one := range configs[0].Configs {
			all = append(all, fmt.Sprint(topic.Topic, " ", one.Key, "=", one.MaybeValue()))
		}
	}
	for _, end := range ends.Offsets().Sorted() {
		all = append(all, fmt.Sprint(end.Topic, end.Partition, end.At))
	}
	slices.Sort(all) // brokers answer in any order
	return strings.Join(all, "\n")
}

func TestAServiceOnBrokers(t *testing.T) {
	brokers, admin := emptyBrokers(t)
	folder := t.TempDir()
	ring := filepath.Join(folder, "ring")
	if err := keyring.Create(ring); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--data-dir", filepath.Join(folder, "data"), "--brokers", brokers, "--key-ring", ring, "--replication", "1", "--partitions", "3",
	}
	look := func(t *testing.T) (r report) {
		t.Helper()
		before := topicsNow(t, admin)
		unchanged(t, folder, func() { r = doctor(t, append(args, "--listen", freeAddress(t))...) })
		if after := topicsNow(t, admin); after != before {
			t.Errorf("the look has changed something at the brokers:\n%s\n%s", before, after)
		}
		return r
	}
	r := look(t)
	r.wantSound()
	r.want("svc.command", "ok", "the next start makes it")

	_, _, stop := serve(t, args...)
	stop()
	r = look(t)
	r.wantSound()
	r.want("brokers", "ok", "answers")
	r.want("key ring", "ok", "is the one of this log")
	r.want("permissions", "ok", "")
	r.want("broker disk", "ok", "free of")
	r.want("svc.call", "warning", "one copy")

	t.Run("that asks for more partitions than there are", func(t *testing.T) {
		r := doctor(t, append(args, "--listen", freeAddress(t), "--partitions", "9")...)
		r.want("svc.call", "failed", "partitions is 3, and at least 9")
	})
	t.Run("with a topic that somebody has changed", func(t *testing.T) {
		set := kadm.AlterConfig{Op: kadm.SetConfig, Name: "cleanup.policy", Value: kadm.StringPtr("compact")}
		if _, err := admin.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{set}, "svc.command"); err != nil {
			t.Fatal(err)
		}
		look(t).wantOnly("svc.command", "cleanup.policy is compact")
	})
}

func TestBrokersThatCannotBeReached(t *testing.T) {
	ring := filepath.Join(t.TempDir(), "ring")
	if err := keyring.Create(ring); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "data")
	args := []string{"--data-dir", folder, "--key-ring", ring, "--listen", freeAddress(t), "--brokers"}
	t.Run("because nobody listens", func(t *testing.T) {
		doctor(t, append(args, freeAddress(t))...).wantOnly("brokers", "fails at TCP")
	})
	t.Run("because another authority signed their certificate", func(t *testing.T) {
		certFile, keyFile := writeCertificate(t, time.Hour)
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			t.Fatal(err)
		}
		other, _ := writeCertificate(t, time.Hour)
		broker := simulate(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))[0]
		doctor(t, append(args, broker, "--broker-tls", "--broker-tls-ca", other)...).wantOnly("brokers", "fails at TLS")
		doctor(t, append(args, broker, "--broker-tls", "--broker-tls-ca", certFile)...).wantSound()
	})
}

// writeCertificate makes a certificate for loopback that ends after that time.
func writeCertificate(t *testing.T, life time.Duration) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hooklog"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(life),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func TestACertificateThatHasExpired(t *testing.T) {
	certFile, keyFile := writeCertificate(t, -time.Hour)
	doctor(t, "--data-dir", filepath.Join(t.TempDir(), "data"), "--listen", freeAddress(t),
		"--tls-cert", certFile, "--tls-key", keyFile).wantOnly("certificate", "has expired")
}

func TestAnIssuerThatCallsItselfByAnotherName(t *testing.T) {
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"issuer":"https://id.example.org/realms/people"}`)
	}))
	defer issuer.Close()
	doctor(t, "--data-dir", filepath.Join(t.TempDir(), "data"), "--listen", freeAddress(t),
		"--issuer", issuer.URL).wantOnly("identity", "calls itself https://id.example.org/realms/people")
}

package e2e_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/cmd/settings"
	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
	"hooklog/transport/keyring"
)

// startTwo starts two instances on the same empty brokers at the same moment.
func startTwo(t *testing.T, first, second option) (one, two *service) {
	t.Helper()
	brokers := emptyBrokers(t)
	ring := filepath.Join(t.TempDir(), "ring")
	if err := keyring.Create(ring); err != nil {
		t.Fatal(err)
	}
	shared := func(c *settings.Config) {
		c.Brokers, c.KeyRing = brokers, ring
		c.Partitions, c.Replication = 3, 1
	}
	var starting sync.WaitGroup
	starting.Go(func() { one = start(t, shared, first) })
	starting.Go(func() { two = start(t, shared, second) })
	starting.Wait()
	if one == nil || two == nil {
		t.FailNow() // the start has said why
	}
	return one, two
}

func TestConcurrentFirstStarts(t *testing.T) {
	passwords := []string{"password of the first", "password of the second", "password of a late one"}
	with := func(password string) option {
		return func(c *settings.Config) { c.AdminPassword = secret.NewPassword(password) }
	}
	one, two := startTwo(t, with(passwords[0]), with(passwords[1]))
	winner := one.firstInit(passwords)
	t.Run("concurrent first starts agree on one administrator: the first on the log", func(t *testing.T) {
		for _, s := range []*service{one, two} {
			s.in(t).onlyAdmin(winner, passwords)
		}
	})
	t.Run("a start that comes later changes nothing", func(t *testing.T) {
		one.in(t).initAgain(passwords[2])
		for _, s := range []*service{one, two} {
			s := s.in(t)
			s.send(http.MethodGet, commandPath+"webhook.get", nil, "Authorization", basic("admin", winner)).want(http.StatusOK)
			s.onlyAdmin(winner, passwords)
		}
	})
}

// firstInit is the password that the first record of the log brings.
func (s *service) firstInit(passwords []string) string {
	s.t.Helper()
	var c registry.Command
	var params registry.InitParams
	first := s.records(record.TopicCommand)[0]
	if err := errors.Join(json.Unmarshal(first.Value, &c), json.Unmarshal(c.Params, &params)); err != nil || c.Name != registry.ClusterInit {
		s.t.Fatalf("the log begins with %s: %v", first.Value, err)
	}
	for _, password := range passwords {
		if ok, err := auth.Verify(params.Admin.PasswordHash, secret.NewPassword(password)); err != nil {
			s.t.Fatal(err)
		} else if ok {
			return password
		}
	}
	s.t.Fatal("the first record has another password than those of the instances")
	return ""
}

// initAgain appends what an instance would that believes to be the first.
func (s *service) initAgain(password string) {
	s.t.Helper()
	hash, err := auth.Hash(secret.NewPassword(password))
	if err != nil {
		s.t.Fatal(err)
	}
	params, err := json.Marshal(registry.InitParams{Check: "another", Admin: access.User{
		Name: access.Administrator, PasswordHash: hash, Roles: []string{access.RoleAdministrator}, Version: 1,
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	late, err := registry.Command{
		ID: uuid.NewString(), Name: registry.ClusterInit, Principal: access.System, Params: params, Time: s.clock.now(),
	}.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	s.produce(&kgo.Record{
		Topic: late.Topic, Key: late.Key, Value: late.Value,
		Headers: []kgo.RecordHeader{{Key: late.Headers[0].Key, Value: late.Headers[0].Value}},
	})
}

// onlyAdmin fails the test unless the administrator has this password and none
// of the others.
func (s *service) onlyAdmin(winner string, passwords []string) {
	s.t.Helper()
	for _, password := range passwords {
		a := s.send(http.MethodGet, commandPath+"webhook.list", nil, "Authorization", basic("admin", password))
		if password == winner {
			a.want(http.StatusOK)
		} else {
			a.refused(http.StatusUnauthorized)
		}
	}
}

// produce appends a record as anybody could who may write to the brokers.
func (s *service) produce(r *kgo.Record) {
	s.t.Helper()
	if err := s.kafka().ProduceSync(s.t.Context(), r).FirstErr(); err != nil {
		s.t.Fatal(err)
	}
}

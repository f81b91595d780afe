package registry_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/pipeline"
	"hooklog/domain/proof"
	"hooklog/domain/record"
	domain "hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/registry"
)

const passwordHash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// instance is a registry that folds a log.
type instance struct {
	*registry.Registry
	t      testing.TB
	log    *projectiontest.Log
	runner *fold.Runner
}

func start(t testing.TB) *instance {
	t.Helper()
	s := projectiontest.OpenStore(t)
	r, err := registry.New(s)
	if err != nil {
		t.Fatal(err)
	}
	log := projectiontest.NewLog(record.TopicCommand, 1)
	return &instance{Registry: r, t: t, log: log, runner: projectiontest.Start(t, r, s, log)}
}

// fold appends the commands and returns when they are folded.
func (i *instance) fold(commands ...domain.Command) {
	i.t.Helper()
	if err := i.runner.Wait(i.t.Context(), i.log.Append(encode(commands...)...)); err != nil {
		i.t.Fatal(err)
	}
}

func encode(commands ...domain.Command) []record.Record {
	records := make([]record.Record, len(commands))
	for i, c := range commands {
		r, err := c.Encode()
		if err != nil {
			panic(err)
		}
		records[i] = r
	}
	return records
}

// token is the n-th token of the tests.
func token(n int) secret.Token {
	t, err := secret.ParseToken(fmt.Sprintf("5eedc0de-1234-4abc-8def-%012d", n))
	if err != nil {
		panic(err)
	}
	return t
}

func ref(n int) webhook.TokenRef {
	t := token(n)
	return webhook.TokenRef{Hash: t.Hash(), Last6: t.Last6(), Sealed: secret.NewSealed("sealed"), SealedFor: "c"}
}

// command is an administrator's command on monday.
func command(id, name string, params any) domain.Command {
	c := domain.Command{
		ID: id, Name: name, Fingerprint: "f-" + id,
		Principal: "kim", Roles: []string{access.RoleAdministrator}, Time: monday,
	}
	if params != nil {
		text, err := json.Marshal(params)
		if err != nil {
			panic(err)
		}
		c.Params = text
	}
	return c
}

func create(id string, n int, key string) domain.Command {
	return command(id, catalog.WebhookPut, webhook.Put{Create: true, Token: ref(n), EventKey: &key}.WithDefaults())
}

func edit(id string, n int, put webhook.Put) domain.Command {
	put.Token = ref(n)
	return command(id, catalog.WebhookPut, put)
}

func enable(id string, n int, enabled bool) domain.Command {
	return edit(id, n, webhook.Put{Enabled: &enabled})
}

func remove(id string, n int) domain.Command { return command(id, catalog.WebhookDelete, ref(n)) }

// initialise is an operator's first start.
func initialise(id, check string) domain.Command {
	return bySystem(command(id, domain.ClusterInit, domain.InitParams{
		Check: check,
		Admin: access.User{Name: access.Administrator, PasswordHash: passwordHash, Roles: []string{access.RoleAdministrator}, Version: 1},
	}))
}

func reset(id, hash string) domain.Command {
	return bySystem(command(id, domain.AdminReset, domain.ResetParams{PasswordHash: hash}))
}

func putUser(id, user, hash string, roles ...string) domain.Command {
	return command(id, catalog.UserPut, access.UserPut{Name: user, PasswordHash: hash, Roles: roles})
}

func putClient(id, client string) domain.Command {
	return command(id, catalog.ClientPut, access.ClientPut{ID: client, SecretHash: access.SecretHash(secret.NewPassword(id))})
}

func putRule(id, rule string) domain.Command {
	return command(id, catalog.PolicyPut, access.Rule{Name: rule, Users: []string{"ann"}, Commands: []string{"webhook.*"}, Keys: []string{"webhook.a"}})
}

// naming is a command that names one user, client or rule.
func naming(id, name, what string) domain.Command {
	return command(id, name, access.Named{Name: what})
}

func signingKey(id string) access.SigningKey {
	return access.SigningKey{
		ID: id, Algorithm: access.KeyAlgorithm, Public: json.RawMessage(`{"kty":"EC"}`),
		Sealed: secret.NewSealed("sealed"), SealedFor: "c",
	}
}

func initKey(id, key string) domain.Command {
	return bySystem(command(id, domain.KeyInit, signingKey(key)))
}

func initCheckpoints(id, origin string) domain.Command {
	return bySystem(command(id, domain.CheckpointInit, proof.Key{
		Origin: origin, Public: origin + "+00000000+AAAA", Sealed: secret.NewSealed("sealed"), SealedFor: id,
	}))
}

// putPipeline is a pipeline that listens to the event keys.
func putPipeline(id, name string, eventKeys ...string) domain.Command {
	return command(id, catalog.PipelinePut, pipeline.Put{
		Name: name, Source: pipeline.Source{Body: secret.NewSealed("sealed"), SealedFor: "c", EventKeys: eventKeys},
	})
}

func removePipeline(id, name string) domain.Command {
	return command(id, catalog.PipelineDelete, pipeline.Delete{Name: name})
}

func bySystem(c domain.Command) domain.Command { return by(c, access.System) }

// by is the command of somebody else.
func by(c domain.Command, principal string, roles ...string) domain.Command {
	c.Principal, c.Effective, c.Roles = principal, principal, roles
	return c
}

// all webhooks are readable.
func all(string) bool { return true }

func at(c domain.Command, hours int) domain.Command {
	c.Time = monday.Add(time.Duration(hours) * time.Hour)
	return c
}

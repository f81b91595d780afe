package audit_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"hooklog/domain/access"
	domain "hooklog/domain/audit"
	"hooklog/domain/catalog"
	"hooklog/domain/record"
	commands "hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/projections/audit"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/registry"
)

const partitions = 2

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return monday.Add(time.Duration(n) * time.Minute) }

// instance is an audit of both logs.
type instance struct {
	*audit.Audit
	t                  testing.TB
	commands, accesses *projectiontest.Log
	deciding, looking  *fold.Runner
}

func start(t testing.TB) *instance {
	t.Helper()
	s := projectiontest.OpenStore(t)
	a := audit.New(s)
	r, err := registry.New(s, a)
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{
		Audit: a, t: t,
		commands: projectiontest.NewLog(record.TopicCommand, 1), accesses: projectiontest.NewLog(record.TopicAccess, partitions),
	}
	i.deciding = projectiontest.Start(t, r, s, i.commands)
	i.looking = projectiontest.Start(t, a, s, i.accesses)
	return i
}

// fold appends the records to their logs and returns when they are folded.
func (i *instance) fold(records ...record.Record) {
	i.t.Helper()
	for _, r := range records {
		if r.Topic == record.TopicCommand {
			i.commands.Append(r)
		} else {
			i.accesses.Append(r)
		}
	}
	for _, runner := range []*fold.Runner{i.deciding, i.looking} {
		if err := runner.Current(i.t.Context()); err != nil {
			i.t.Fatal(err)
		}
	}
}

// list gives all pages as lines, with everything to be seen unless the filter
// says otherwise.
func (i *instance) list(f domain.Filter, limit int) (lines []string) {
	i.t.Helper()
	if f.Readable == nil {
		f.Readable, f.All = func(string) bool { return true }, true
	}
	for after := ""; ; {
		page, next, err := i.List(f, after, limit)
		if err != nil {
			i.t.Fatal(err)
		}
		if len(page) > limit {
			i.t.Fatalf("%d entries on a page of %d", len(page), limit)
		}
		for _, e := range page {
			lines = append(lines, fmt.Sprintf("%s/%s/%s", e.ID, e.Command, e.Outcome))
		}
		if next == "" {
			return lines
		}
		after = next
	}
}

func must(r record.Record, err error) record.Record {
	if err != nil {
		panic(err)
	}
	return r
}

// command is a record of kim, who administers, at a minute of the tests.
func command(id, name string, at int, params any) record.Record {
	return by("kim", []string{access.RoleAdministrator}, id, name, at, params)
}

func by(principal string, roles []string, id, name string, at int, params any) record.Record {
	c := commands.Command{ID: id, Name: name, Fingerprint: id, Principal: principal, Roles: roles, Time: minute(at)}
	if params != nil {
		text, err := json.Marshal(params)
		if err != nil {
			panic(err)
		}
		c.Params = text
	}
	return must(c.Encode())
}

func ref(n int) webhook.TokenRef {
	t, err := secret.ParseToken(fmt.Sprintf("5eedc0de-1234-4abc-8def-%012d", n))
	if err != nil {
		panic(err)
	}
	return webhook.TokenRef{Hash: t.Hash(), Last6: t.Last6(), Sealed: secret.NewSealed("sealed"), SealedFor: "c"}
}

func create(id string, n int, key string, at int) record.Record {
	return command(id, catalog.WebhookPut, at, webhook.Put{Create: true, Token: ref(n), EventKey: &key}.WithDefaults())
}

func look(id string, partition int32, at int) record.Record {
	r := must(access.Look{ID: id, Name: catalog.WebhookList, Principal: "ann", Outcome: "ok", Time: minute(at)}.Encode(1))
	r.Partition = partition
	return r
}

func login(id string, at int) record.Record {
	return must(access.Login{ID: id, Principal: "ann", Client: "hooklog", Grant: "password", Time: minute(at)}.Encode(1))
}

func failures(at int) record.Record {
	return must(access.Failures{Instance: "i", From: minute(at - 1), To: minute(at), Rest: map[string]int64{"unauthenticated": 3}}.Encode(1))
}

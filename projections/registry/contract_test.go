package registry_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/record"
	domain "hooklog/domain/registry"
	"hooklog/domain/webhook"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/registry"
	"hooklog/projections/store"
)

// history is a log in which everything happens, some of it twice, and some that
// contradicts what was before.
func history() []record.Record {
	moved, wrong := "webhook.moved", 7
	stranger := create("c9", 9, "webhook.stranger")
	stranger.Roles = nil
	other := create("c1", 5, "webhook.other")
	other.Fingerprint = "of other parameters"
	return encode(
		initialise("i1", "check"),
		initialise("i2", "a second start"),
		create("c1", 1, "webhook.a"),
		create("c1", 1, "webhook.a"), // repeated
		other,                        // contradicts
		create("c2", 2, "webhook.a"), // the key is taken
		at(create("c3", 3, "webhook.c"), 5),
		create("c4", 4, "webhook.d"), // by a clock behind
		edit("e1", 1, webhook.Put{EventKey: &moved}),
		create("c5", 5, "webhook.a"), // the key is free again
		edit("e2", 1, webhook.Put{Version: &wrong}),
		enable("e3", 3, false),
		enable("e4", 4, false),
		enable("e5", 4, true),
		enable("e5", 4, true), // repeated
		command("g1", catalog.WebhookGet, nil),
		command("g2", catalog.WebhookGet, ref(1)),
		remove("d1", 5),
		remove("d2", 5), // there is none any more
		stranger,
		command("u1", "webhook.paint", nil),
		reset("r1", passwordHash+"2"),
		edit("e6", 8, webhook.Put{}), // there never was one
		initKey("k1", "first"),
		initKey("k2", "a second start"),
		command("k3", catalog.KeyRotate, signingKey("second")),
		command("k3", catalog.KeyRotate, signingKey("third")), // repeated
		putUser("u2", "ann", passwordHash, "reader"),
		putUser("u3", "ann", ""),
		putUser("u4", "bob", ""), // without a password
		by(remove("d3", 1), "ann"),
		putRule("p1", "orders"),
		by(enable("e7", 5, false), "ann"),
		by(create("c6", 6, "webhook.a"), "ann"),
		by(create("c7", 7, "webhook.q"), "ann"), // a key that the rule does not cover
		naming("p2", catalog.PolicyDelete, "orders"),
		by(remove("d4", 6), "ann"), // the rule is gone
		naming("p3", catalog.PolicyDelete, "orders"),
		putClient("l1", "shop"),
		putClient("l2", "till"),
		naming("l3", catalog.ClientDelete, "shop"),
		naming("l4", catalog.ClientDelete, access.PublicClient),
		naming("u5", catalog.UserDelete, "ann"),
		naming("u6", catalog.UserGet, "ann"),
		putUser("u7", "ann", passwordHash),
		putPipeline("q1", "orders", "webhook.a", "webhook.#"),
		putPipeline("q1", "orders", "webhook.a", "webhook.#"), // repeated
		putPipeline("q2", "orders"),
		putPipeline("q3", "stock", "webhook.b"),
		by(putPipeline("q4", "stock", "webhook.c"), "ann"), // may not
		removePipeline("q5", "orders"),
		removePipeline("q6", "orders"), // there is none any more
		putPipeline("q7", "orders", "webhook.c"),
		command("q8", catalog.PipelineGet, domain.PipelineRef{Name: "orders", Version: 1}),
		command("q9", catalog.PipelineRun, domain.RunParams{Name: "orders"}),
		command("q10", catalog.PipelineRun, domain.RunParams{SHA256: "5f0c"}),
		initCheckpoints("k8", "hooklog-1"),
		initCheckpoints("k9", "hooklog-2"), // there is one
		command("k10", catalog.CheckpointPut, nil),
		command("q11", catalog.RunRetry, domain.RetryParams{CorrelationID: "c", Pipelines: []string{"orders"}}),
	)
}

func TestTheRegistryIsAProjection(t *testing.T) {
	projectiontest.Run(t, projectiontest.Contract{
		New:     func(s *store.Store) (fold.Projection, error) { return registry.New(s) },
		History: history(),
	})
}

// Settings cannot reach a fold, for there is nothing that they could be passed
// to: whatever two instances are set to, they fold one log into equal rows.
func TestTwoInstancesFoldOneLogIntoEqualRows(t *testing.T) {
	log := projectiontest.NewLog(record.TopicCommand, 1)
	var dumps []string
	for range 2 {
		s := projectiontest.OpenStore(t)
		r, err := registry.New(s)
		if err != nil {
			t.Fatal(err)
		}
		runner := projectiontest.Start(t, r, s, log)
		if len(dumps) == 0 {
			log.Append(history()...) // one sees the records come, the other finds them
		}
		if err := runner.Current(t.Context()); err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, projectiontest.Dump(t, s))
	}
	if diff := cmp.Diff(dumps[0], dumps[1]); diff != "" {
		t.Errorf("rows differ (-one +other):\n%s", diff)
	}
	if r := encode(domain.Command{ID: "x", Name: "y", Principal: "z"}); len(dumps[0]) < len(r[0].Value) {
		t.Errorf("the log gave next to no rows:\n%s", dumps[0])
	}
}

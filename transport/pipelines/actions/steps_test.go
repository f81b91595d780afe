package actions_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/transport/commands"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/actions"
)

func TestACommandRunsAsTheUserThatTheRunHasBecome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answer = commands.Webhook{EventKey: "webhook.new"}
	steps := w.actions().Steps(triggered("ada"))
	params := map[string]any{"eventKey": "webhook.new", "maxPayloadLength": int64(512), "enabled": false, "payloadType": "raw"}
	have, err := steps.Do(t.Context(), step("bob", "webhook.put", params))
	if err != nil || have != w.answer {
		t.Fatalf("the step gives %v, %v", have, err)
	}
	req := w.requests[0]
	want := commands.Caller{
		Principal: access.Anonymous, Effective: "bob", Roles: []string{"clerks"}, Owner: "ada", Via: "p@2", Call: parent,
	}
	if diff := cmp.Diff(want, req.Caller); diff != "" {
		t.Errorf("the caller differs (-want +have):\n%s", diff)
	}
	if *catalog.Arg[string](req.Args, "eventKey") != "webhook.new" || *catalog.Arg[int](req.Args, "maxPayloadLength") != 512 ||
		*catalog.Arg[bool](req.Args, "enabled") || *catalog.Arg[string](req.Args, "payloadType") != "raw" {
		t.Errorf("the parameters are %+v", req.Args)
	}
	id := pipeline.Step{Call: parent, Pipeline: "p", Version: 2, Path: "3", Attempt: 1, Try: 1}.CommandID()
	if req.CommandID != id || steps.CommandID("3") != id || steps.CommandID("4") != "" {
		t.Errorf("the command has the id %s", req.CommandID)
	}
}

func TestARepeatedRunIssuesTheSameCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := map[string]int{}
	issue := func(o actions.Origin, try int) {
		c := step(access.Anonymous, "webhook.get", nil)
		c.Try = try
		if _, err := w.actions().Steps(o).Do(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		ids[w.requests[len(w.requests)-1].CommandID]++
	}
	retried := triggered("ada")
	retried.Attempt = 2
	issue(triggered("ada"), 1)
	issue(triggered("bob"), 1) // a crash, whoever the owner is by now
	issue(triggered("ada"), 2)
	issue(retried, 1)
	if len(ids) != 3 {
		t.Errorf("the ids are %v", ids)
	}
}

func TestOnlyWhatThePolicyLetsTheUserRunIsRun(t *testing.T) {
	t.Parallel()
	listens := rule("ada", []string{"event.listen"}, []string{"webhook.a"})
	anonymous := rule(access.Anonymous, []string{"set", "event.listen"}, everything)
	for name, c := range map[string]struct {
		origin  actions.Origin
		rules   []access.Rule
		user    string
		command string
		allowed bool
	}{
		"a word of the language with a rule":       {triggered("ada"), []access.Rule{anonymous}, access.Anonymous, "set", true},
		"a word of the language without a rule":    {triggered("ada"), nil, access.Anonymous, "set", false},
		"an administrator":                         {triggered("ada"), nil, "root", "http.request", true},
		"a user that is gone":                      {triggered("ada"), []access.Rule{rule("eve", everything, everything)}, "eve", "set", false},
		"a command of the service is for the fold": {triggered("ada"), nil, access.Anonymous, "webhook.put", true},
		"listening, both may":                      {triggered("ada"), []access.Rule{anonymous, listens}, access.Anonymous, "event.listen", true},
		"listening, the owner may not":             {triggered("bob"), []access.Rule{anonymous, listens}, access.Anonymous, "event.listen", false},
		"listening, the user may not":              {triggered("ada"), []access.Rule{listens}, access.Anonymous, "event.listen", false},
		"listening, the owner is gone":             {triggered("eve"), []access.Rule{anonymous, listens}, access.Anonymous, "event.listen", false},
		"a caller's own rights":                    {byCaller("ns:7", "clerks"), []access.Rule{{Roles: []string{"clerks"}, Commands: everything}}, "ns:7", "set", true},
		"a caller has no other's rights":           {byCaller("ada"), []access.Rule{rule("ns:7", everything, everything)}, "ada", "set", false},
		"a caller listens to nothing":              {byCaller("ada"), []access.Rule{rule("ada", everything, nil)}, "ada", "event.listen", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := newWorld(t, c.rules...).actions().Steps(c.origin).Allow(t.Context(), c.user, c.command)
			if c.allowed != (err == nil) || (err != nil && !fault.Is(err, fault.Forbidden)) {
				t.Errorf("the answer is %v", err)
			}
		})
	}
}

// byCaller is what a run comes from that a caller began.
func byCaller(principal string, roles ...string) actions.Origin {
	return actions.Origin{Call: parent, Attempt: 1, Caller: commands.Caller{Principal: principal, Roles: roles}}
}

// fromOutside is triggered, with an owner who had the roles when he put it.
func fromOutside(owner string, roles ...string) actions.Origin {
	o := triggered(owner)
	o.OwnerRoles = roles
	return o
}

func TestWhoAPipelineMayRunAs(t *testing.T) {
	t.Parallel()
	mayBob := rule("ada", nil, nil, "bob")
	for name, c := range map[string]struct {
		origin  actions.Origin
		rules   []access.Rule
		from    string
		to      string
		allowed bool
	}{
		"the owner has a rule":             {triggered("ada"), []access.Rule{mayBob}, access.Anonymous, "bob", true},
		"the owner has a rule for all":     {triggered("ada"), []access.Rule{rule("ada", nil, nil, "*")}, access.Anonymous, "root", true},
		"the owner has none":               {triggered("bob"), []access.Rule{mayBob}, access.Anonymous, "bob", false},
		"the owner is an administrator":    {triggered("root"), nil, access.Anonymous, "bob", true},
		"the owner is gone":                {triggered("eve"), []access.Rule{rule("eve", nil, nil, "bob")}, access.Anonymous, "bob", false},
		"the owner's name is another's":    {triggered("neo"), []access.Rule{rule("neo", nil, nil, "bob")}, access.Anonymous, "bob", false},
		"the owner is outside":             {triggered("ns:7"), []access.Rule{rule("ns:7", nil, nil, "bob")}, access.Anonymous, "bob", true},
		"the owner is outside, no rule":    {triggered("ns:8"), []access.Rule{rule("ns:7", nil, nil, "bob")}, access.Anonymous, "bob", false},
		"the owner's role at the put":      {fromOutside("ns:8", "ops"), []access.Rule{{Roles: []string{"ops"}, RunAs: []string{"bob"}}}, access.Anonymous, "bob", true},
		"the user does not exist":          {triggered("root"), nil, access.Anonymous, "eve", false},
		"a chain counts by the owner":      {triggered("ada"), []access.Rule{mayBob, rule("bob", nil, nil, "root")}, "bob", "root", false},
		"a caller by its own rules":        {byCaller("ada"), []access.Rule{mayBob}, "ada", "bob", true},
		"a caller by nobody else's":        {byCaller("bob"), []access.Rule{mayBob}, "bob", "root", false},
		"an outside caller by its roles":   {byCaller("ns:7", "ops"), []access.Rule{{Roles: []string{"ops"}, RunAs: []string{"bob"}}}, "ns:7", "bob", true},
		"anonymousUser's rule is no help":  {triggered("ada"), []access.Rule{rule(access.Anonymous, nil, nil, "bob")}, access.Anonymous, "bob", false},
		"a stored one counts by its owner": {stored("ada", "bob"), []access.Rule{rule("ada", nil, nil, "root")}, "ada", "root", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newWorld(t, c.rules...).actions().Steps(c.origin).
				Do(t.Context(), step(c.from, "iam.run.as", map[string]any{"user": c.to}))
			if c.allowed != (err == nil) || (err != nil && !fault.Is(err, fault.Forbidden)) {
				t.Errorf("the answer is %v", err)
			}
		})
	}
}

// stored is what a caller's run of another's stored pipeline comes from.
func stored(caller, owner string) actions.Origin {
	o := byCaller(caller)
	o.Owner = owner
	return o
}

func TestTheCatalogHasWhatMayBeAStep(t *testing.T) {
	t.Parallel()
	a := newWorld(t).actions()
	for name, want := range map[string]bool{
		"webhook.put": true, "webhook.get": true, "webhook.delete": true, "pipeline.run": true,
		"event.receive": true, "event.send": true, "message.send": true,
		"http.request": false, "user.put": false, "policy.put": false, "key.rotate": false, "client.put": false,
		"pipeline.put": false, "webhook.receive": false, "webhook.list": false, "unheard.of": false,
	} {
		if _, have := a.Step(name); have != want {
			t.Errorf("%s is a step: %t", name, have)
		}
	}
	program, err := pipelines.Compile([]byte(`pipeline:
  - webhook.put: {eventKey: webhook.x, payloadHandling: raw, maxPayloadLength: 5, enabled: true}
  - event.send: {eventKey: orders.new, payload: {a: 1}}
  - iam.run.as: {user: bob}
`), a)
	if err != nil || len(program.RunAs) != 1 {
		t.Errorf("a program of them: %v", err)
	}
	// Even a program that was compiled before cannot run what is none.
	steps := a.Steps(triggered("root"))
	if _, err := steps.Do(t.Context(), step("root", "user.put", nil)); !fault.Is(err, fault.NotFound) {
		t.Errorf("user.put as a step: %v", err)
	}
	if _, err := steps.Do(t.Context(), step("root", "http.request", map[string]any{"url": "https://example.com"})); !fault.Is(err, fault.Forbidden) {
		t.Errorf("http.request that is off: %v", err)
	}
}

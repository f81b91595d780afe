package registry_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/record"
	"hooklog/projections/projectiontest"
	"hooklog/projections/registry"
)

func userNames(t *testing.T, r *registry.Registry) (names []string) {
	t.Helper()
	users, err := r.Users()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range users {
		names = append(names, u.Name)
	}
	return names
}

func TestUsersLiveUntilTheyAreDeleted(t *testing.T) {
	i := start(t)
	i.fold(initialise("i", "check"), putUser("u1", "zoe", passwordHash), putUser("u2", "bob", passwordHash, "reader"))
	if diff := cmp.Diff([]string{"admin", "anonymousUser", "bob", "zoe"}, userNames(t, i.Registry)); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
	bob, ok, err := i.User("bob")
	if err != nil || !ok || bob.PasswordHash != passwordHash || bob.Version != 1 || !cmp.Equal(bob.Roles, []string{"reader"}) || bob.CreatedBy != "kim" {
		t.Errorf("bob is %+v, %v, %v", bob, ok, err)
	}
	i.fold(naming("d", catalog.UserDelete, "bob"))
	if u, ok, err := i.User("bob"); ok || err != nil {
		t.Errorf("bob lives as %+v, %v", u, err)
	}
	if diff := cmp.Diff([]string{"admin", "anonymousUser", "zoe"}, userNames(t, i.Registry)); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
	i.fold(putUser("u3", "bob", passwordHash+"2"))
	if u, ok, _ := i.User("bob"); !ok || u.Version != 3 || len(u.Roles) != 0 {
		t.Errorf("the next bob is %+v, %v", u, ok)
	}
}

func TestClientsLiveUntilTheyAreDeleted(t *testing.T) {
	i := start(t)
	i.fold(initialise("i", "check"), putClient("c1", "till"), putClient("c2", "shop"), naming("d", catalog.ClientDelete, "till"))
	clients, err := i.Clients()
	if err != nil || len(clients) != 2 || clients[0].ID != access.PublicClient || !clients[0].Public || clients[1].ID != "shop" || clients[1].SecretHash == "" {
		t.Errorf("clients are %+v, %v", clients, err)
	}
	if c, ok, err := i.Client("till"); ok || err != nil {
		t.Errorf("a deleted client is %+v, %v", c, err)
	}
	if c, ok, err := i.Client("shop"); !ok || err != nil || c.Version != 1 {
		t.Errorf("a client is %+v, %v, %v", c, ok, err)
	}
}

func TestPolicyAndKeysAreInMemoryWhenSomebodyIsTold(t *testing.T) {
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(record.TopicCommand, 1)
	first, err := registry.New(s)
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{Registry: first, t: t, log: log, runner: projectiontest.Start(t, first, s, log)}
	if len(i.Policy()) != 0 || len(i.SigningKeys()) != 0 {
		t.Errorf("before the first command there are %+v and %+v", i.Policy(), i.SigningKeys())
	}
	i.fold(initialise("i", "check"), initKey("k", "first"))
	told, _ := i.Await("p", "f-p")
	i.log.Append(encode(putRule("p", "orders"), command("r", catalog.KeyRotate, signingKey("second")))...)
	<-told
	ann := access.Subject{Principal: "ann"}
	if err := i.Policy().Allow(ann, "webhook.put", "webhook.a"); err != nil {
		t.Errorf("whoever is told of the rule is refused: %v", err)
	}
	i.fold(command("bad", catalog.PolicyPut, access.Rule{Name: "bad"}))
	second, err := registry.New(s) // folds nothing
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*registry.Registry{"folding": first, "restarted": second} {
		keys := r.SigningKeys()
		if len(keys) != 2 || keys[0].ID != "second" || keys[1].ID != "first" || keys[1].Sealed.Reveal() != "sealed" {
			t.Errorf("%s: keys are %+v", name, keys)
		}
		if diff := cmp.Diff(first.Policy(), r.Policy()); diff != "" || len(r.Policy()) != 2 {
			t.Errorf("%s: policy of %d rules differs:\n%s", name, len(r.Policy()), diff)
		}
	}
}

package realm_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/session"
)

// people is the registry: users, clients and keys in memory.
type people struct {
	mu      sync.Mutex
	users   map[string]access.User
	clients map[string]access.Client
	keys    access.SigningKeys
	// looks counts the passes of the barrier; arrive is what a pass brings.
	looks  atomic.Int64
	arrive func(*people)
}

func (p *people) User(name string) (access.User, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	user, ok := p.users[name]
	return user, ok, nil
}

func (p *people) Client(id string) (access.Client, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	client, ok := p.clients[id]
	return client, ok, nil
}

func (p *people) SigningKeys() access.SigningKeys {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys
}

func (p *people) Current(context.Context) error {
	p.looks.Add(1)
	if p.arrive != nil {
		p.change(p.arrive)
	}
	return nil
}

func (p *people) change(how func(*people)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how(p)
}

// raise gives a user its next version.
func (p *people) raise(name string, how func(*access.User)) {
	p.change(func(p *people) {
		user := p.users[name]
		user.Version++
		how(&user)
		p.users[name] = user
	})
}

// tokens are the refresh families, decided by the same rules as on the log.
type tokens struct {
	mu       sync.Mutex
	now      func() time.Time
	families map[session.Hash]session.Family
	made     byte
}

func (f *tokens) key() (key session.TokenKey) {
	f.made++
	key[0] = f.made
	return key
}

func (f *tokens) Open(_ context.Context, user access.User, client, scope string) (secret.Password, time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	token := session.NewToken(session.FamilyID(bytes.Repeat([]byte{f.made}, 16)), f.key())
	family := session.Family{
		ID: token.Family(), User: user.Name, UserVersion: user.Version, Client: client, Scope: scope,
		Created: f.now(), Expires: f.now().Add(time.Hour), Current: []session.Hash{token.Hash()},
	}
	f.families[family.ID] = family
	return token.Password, family.Expires, nil
}

func (f *tokens) Rotate(_ context.Context, given secret.Password, client string) (secret.Password, session.Family, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	token, family, err := f.find(given)
	if err != nil {
		return secret.Password{}, session.Family{}, err
	}
	successor := token.Successor(f.key())
	after, outcome := session.Decide(&family, session.Wish{
		Kind: session.Rotate, Client: client, Token: token.Hash(), Successor: successor.Hash(), Time: f.now(),
	})
	f.families[family.ID] = after
	return successor.Password, after, outcome.Err()
}

func (f *tokens) Alive(_ context.Context, given secret.Password) (session.Family, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	token, family, err := f.find(given)
	if err == nil && !family.Alive(token.Hash(), f.now()) {
		err = session.Unknown.Err()
	}
	return family, err
}

func (f *tokens) find(given secret.Password) (session.Token, session.Family, error) {
	token, err := session.ParseToken(given)
	if err != nil {
		return token, session.Family{}, session.Unknown.Err()
	}
	family, ok := f.families[token.Family()]
	if !ok {
		return token, family, session.Unknown.Err()
	}
	return token, family, nil
}

type journal struct {
	mu      sync.Mutex
	records []record.Record
}

func (j *journal) Append(r *record.Record, done func(record.Position, error)) {
	j.mu.Lock()
	j.records = append(j.records, *r)
	j.mu.Unlock()
	done(r.Position, nil)
}

// clock goes on only when it is told to.
type clock struct{ at atomic.Int64 }

func (c *clock) Now() time.Time          { return time.Unix(0, c.at.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

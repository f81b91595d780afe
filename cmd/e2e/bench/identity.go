package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// benchIdentity compares a command whose caller must be known, by token and by
// password, with a call that asks nobody. The disk is left out: sync is off.
func benchIdentity(ctx context.Context, p plan) (err error) {
	title("Who calls, embedded broker, sync off: a health call that needs no log-in, and webhook.get by token and by password")
	dir, err := p.fresh()
	if err != nil {
		return err
	}
	service, err := startHooklog(ctx, hooklogConfig{Log: logAt{Dir: dir}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.stop()) }()
	webhook, err := service.put(ctx, "webhook.known")
	if err != nil {
		return err
	}
	access, err := service.logIn(ctx)
	if err != nil {
		return err
	}

	p.measured = min(p.measured, 1500*time.Millisecond)
	params := "uuid=" + webhook
	requests := []struct {
		name string
		sent []byte
	}{
		{"health", fmt.Appendf(nil, "GET /healthz HTTP/1.1\r\nHost: %s\r\nUser-Agent: hooklog-bench/1\r\nAccept: */*\r\n\r\n", service.Address)},
		{"webhook.get, Bearer", request(service.Address, commandPath+"webhook.get", "application/x-www-form-urlencoded", params, "Authorization: Bearer "+access)},
		{"webhook.get, Basic", commandRequest(service.Address, "webhook.get", params)},
	}
	for _, connections := range p.commandConnections {
		var sides []side
		for _, r := range requests {
			sides = append(sides, side{r.name, func(ctx context.Context) (sample, error) {
				return service.under(ctx, p.load(connections, r.sent))
			}})
		}
		samples, err := takeTurns(ctx, p.rounds, sides...)
		if err != nil {
			return err
		}
		fmt.Printf("\n  %d connections\n", connections)
		table(sides, samples)
		compared("Bearer beside health", samples[:2], 0)
		compared("Basic beside health", [][]sample{samples[0], samples[2]}, 0)
		compared("Basic beside Bearer", samples[1:], 0)
	}
	return nil
}

// logIn gives an access token of the administrator.
func (s *server) logIn(ctx context.Context) (access string, err error) {
	form := url.Values{"grant_type": {"password"}, "client_id": {"hooklog"}, "username": {adminName}, "password": {adminPassword}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://"+s.Address+"/auth/realms/hooklog/protocol/openid-connect/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the token endpoint answered %d", resp.StatusCode)
	}
	var granted struct {
		Access string `json:"access_token"`
	}
	return granted.Access, json.NewDecoder(resp.Body).Decode(&granted)
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

// hooklogConfig is for the role of the service.
type hooklogConfig struct {
	Log     logAt
	KeyRing string
	// Collector is where every call's spans go; empty means that there are none.
	Collector string
}

// serveHooklog is the role of hooklog as it is: projections running, a log line
// for each call, default settings. Only the rate of commands is not held, because
// one user runs them all.
func serveHooklog(config []byte) error {
	var cfg hooklogConfig
	if err := json.Unmarshal(config, &cfg); err != nil {
		return err
	}
	set := settings.Default()
	set.Listen = "127.0.0.1:0"
	set.DataDir = cfg.Log.Dir
	set.EmbeddedSync = cfg.Log.Sync
	set.Brokers = cfg.Log.Brokers
	set.KeyRing = cfg.KeyRing
	set.Replication = cfg.Log.copies()
	set.UserRate = 0
	set.AdminPassword = secret.NewPassword(adminPassword)
	if err := set.Validate(); err != nil {
		return err
	}
	trace(cfg.Collector)
	began, cpu := time.Now(), ownCPU()
	running, err := app.Start(context.Background(), set, app.Deps{
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Out: io.Discard, Now: time.Now,
	})
	if err != nil {
		return err
	}
	tell(ready{
		Address: strings.TrimPrefix(running.BaseURL(), "http://"), Ops: running.OpsAddr().String(),
		Took: time.Since(began), CPU: ownCPU() - cpu,
	})
	untilParentEnds()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return running.Stop(ctx)
}

// server is a child that serves.
type server struct {
	*child
	ready
}

func startBare(ctx context.Context, cfg bareConfig) (*server, error) {
	return startServer(ctx, "bare", cfg)
}

func startHooklog(ctx context.Context, cfg hooklogConfig) (*server, error) {
	return startServer(ctx, "hooklog", cfg)
}

func startServer(ctx context.Context, role string, config any) (*server, error) {
	c, err := startChild(ctx, role, config)
	if err != nil {
		return nil, err
	}
	s := &server{child: c}
	return s, c.hear(&s.ready)
}

// put creates a webhook and gives its token.
func (s *server) put(ctx context.Context, eventKey string) (token string, err error) {
	answer, err := s.command(ctx, "webhook.put", url.Values{"eventKey": {eventKey}})
	if err != nil {
		return "", err
	}
	var created struct{ UUID string }
	return created.UUID, json.Unmarshal(answer, &created)
}

// command runs a command as the administrator.
func (s *server) command(ctx context.Context, name string, params url.Values) (answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.Address+commandPath+name, strings.NewReader(params.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(adminName, adminPassword)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d: %s", name, resp.StatusCode, answer)
	}
	return answer, nil
}

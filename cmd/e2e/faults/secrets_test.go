//go:build faults

package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// lookedFrom is planted on svc.access, whose records hold little else.
const lookedFrom = "2001:db8:feed:beef::1"

// spies are the secrets of one run, what they were driven through, and what came
// back.
type spies struct {
	secretsOfUsers
	reader, wrongReader, broker, collectorKey canary
	// plant is what every place is meant to show.
	plant  string
	tokens []canary
	identity
	collector collector

	answers  bytes.Buffer
	statuses map[string]int
	ids      []string // correlation ids, which belong to callers
}

func newSpies() *spies {
	return &spies{
		secretsOfUsers: secretsOfUsers{
			admin: newPasswordCanary("administrator's password"), wrong: newPasswordCanary("wrong password"),
			bearer: newTokenCanary("bearer token"), cookie: newTokenCanary("cookie"), unknown: newTokenCanary("unknown token"),
		},
		reader: newPasswordCanary("reader's password"), wrongReader: newPasswordCanary("reader's wrong password"),
		broker: newPasswordCanary("password at the brokers"), collectorKey: newTokenCanary("key of the collector"),
		identity: newIdentity(),
		plant:    "plant" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12],
		statuses: map[string]int{},
	}
}

func (s *spies) all() []canary {
	known := []canary{s.admin, s.wrong, s.bearer, s.cookie, s.unknown, s.reader, s.wrongReader, s.broker, s.collectorKey, s.user, s.changed}
	return slices.Concat(known, s.tokens, s.issued)
}

// start starts the binary with the passwords of the run.
func (s *spies) start(t *testing.T, level string, brokers []string, args ...string) *process {
	t.Helper()
	p := begin(t, s.prepared(t, level, args...)).greeted(t, brokers)
	p.url = strings.TrimSuffix(p.url, "/"+s.plant)
	return p
}

func (s *spies) prepared(t *testing.T, level string, args ...string) *exec.Cmd {
	t.Helper()
	address := unusedAddress(t)
	run := hooklog(t, append([]string{
		"serve", "--listen", address, "--base-url", "http://" + address + "/" + s.plant, "--trusted-proxies", "127.0.0.0/8",
		"--log-level", level, "--log-format", "json",
	}, args...)...)
	run.Env = append(run.Env, "HOOKLOG_ADMIN_PASSWORD="+s.admin.text, "HOOKLOG_EMBEDDED_READER_PASSWORD="+s.reader.text)
	run.Env = append(run.Env, s.traced(t)...)
	return run
}

var (
	statusOf        = regexp.MustCompile(`^HTTP/1\.1 (\d{3})`)
	correlationIDOf = regexp.MustCompile(`(?i)svc-result-correlationid: ([0-9a-f-]{36})\r`)
)

// drive sends the requests, keeps what must not show a secret, and counts the
// statuses.
func (s *spies) drive(t *testing.T, base string, requests []request) {
	t.Helper()
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		answer := exchange(t, at.Host, r.raw(at.Host), r.cut)
		status := statusOf.FindStringSubmatch(answer)
		if status == nil {
			t.Errorf("no answer to %.200q: %.200q", r.raw(at.Host), answer)
			continue
		}
		s.statuses[status[1]]++
		if id := correlationIDOf.FindStringSubmatch(answer); id != nil {
			s.ids = append(s.ids, id[1])
		}
		if !r.shows || status[1] != "200" {
			fmt.Fprintf(&s.answers, "%s\n", answer)
		}
	}
}

// hook makes a webhook whose token is a canary from then on.
func (s *spies) hook(t *testing.T, p *process, name string, params ...string) string {
	t.Helper()
	var hook webhook
	form := url.Values{"eventKey": {"webhook." + s.plant + "." + name}}
	for _, param := range params {
		key, value, _ := strings.Cut(param, "=")
		form.Set(key, value)
	}
	req, err := http.NewRequest(http.MethodPost, p.url+"/api/v3/command/webhook.put", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("admin", s.admin.text)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := p.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&hook); err != nil || hook.UUID == "" {
		t.Fatalf("webhook.put: %s, %v", resp.Status, err)
	}
	s.tokens = append(s.tokens, tokenCanary("token of "+name, hook.UUID))
	return hook.UUID
}

// everything drives all secrets through all paths.
func (s *spies) everything(t *testing.T, p *process) {
	t.Helper()
	for _, kind := range []string{"raw", "base64", "ignore"} {
		token := s.hook(t, p, kind, "payloadType="+kind, "maxPayloadLength=60000")
		s.drive(t, p.url, calls(token))
		s.drive(t, p.url, managed(token, s.secretsOfUsers))
		s.drive(t, p.ops, []request{
			{method: "GET", target: "/readyz?token=" + token}, {method: "GET", target: "/debug/pprof/" + token}, {method: "GET", target: "//" + token},
		})
	}
	s.logIns(t, p)
	s.drive(t, p.url, s.elsewhere(s.audited()))
	gone := s.hook(t, p, "gone")
	basic := managed(gone, s.secretsOfUsers)[0].headers[0]
	s.drive(t, p.url, []request{
		{method: "POST", target: "/api/v3/command/webhook.put?enabled=false&uuid=" + gone, headers: []string{basic}, shows: true},
		{method: "GET", target: receivePath + "?token=" + gone},
		{method: "POST", target: "/api/v3/command/webhook.delete?uuid=" + gone, headers: []string{basic}, shows: true},
		{method: "POST", target: "/api/v3/command/webhook.delete?uuid=" + gone, headers: []string{basic}},
		{method: "POST", target: "/api/v3/command/webhook.put?eventKey=webhook." + s.plant + ".raw", headers: []string{basic}},
		{method: "GET", target: receivePath + "?token=" + gone},
		{method: "GET", target: receivePath + "?token=" + s.unknown.text, headers: []string{"Referer: " + s.unknown.text}},
		{method: "POST", target: receivePath, headers: []string{asJSON}, body: `{"token":"` + s.unknown.text + `"}`},
	})
	s.piped(t, p)
}

// wantStatuses fails the test unless the requests were answered in every way.
func (s *spies) wantStatuses(t *testing.T, statuses ...string) {
	t.Helper()
	for _, status := range statuses {
		if s.statuses[status] == 0 {
			t.Errorf("nothing was answered %s: %v", status, s.statuses)
		}
	}
}

// quiet fails the test where the output of the process shows a secret, or what
// belongs to callers alone.
func (s *spies) quiet(t *testing.T, found *search, p *process) {
	t.Helper()
	found.clean("standard output", []byte(p.out.String()), s.plant)
	found.clean("log lines", []byte(p.logs.String()), s.plant)
	for _, id := range s.ids {
		if strings.Contains(p.logs.String(), id) {
			t.Errorf("a correlation id is in the log lines: %s", id)
		}
	}
}

func TestNoSecretLeavesAnEmbeddedService(t *testing.T) {
	embeddedOnly(t)
	alongside(t)
	for _, level := range levels("debug") {
		t.Run(level, func(t *testing.T) {
			s := newSpies()
			folder := filepath.Join(t.TempDir(), s.plant)
			args := []string{"--data-dir", folder, "--embedded-listen", "127.0.0.1:0"}
			p := s.start(t, level, nil, args...)
			s.everything(t, p)
			s.wantStatuses(t, "200", "302", "400", "401", "404", "405", "409", "410", "413", "415", "431")
			seen := s.throughTheWindow(t, p)
			profiles := s.profiles(t, p)
			metrics := s.metrics(t, p)
			spans := s.exported(t)
			s.crash(t, p)
			found := &search{t: t, canaries: s.all()}
			found.clean("answers", s.answers.Bytes(), s.plant)
			found.clean("window", seen, s.plant)
			found.clean("profiles", profiles, s.plant)
			found.clean("metrics", metrics, s.plant)
			found.clean("spans", spans, s.plant)
			s.quiet(t, found, p)

			again := s.start(t, level, nil, args...)
			again.terminate(t)
			found.clean("log lines of the next start", []byte(again.logs.String()), "Checked the embedded log")
			s.onDisk(t, found, folder)
			t.Logf("%d secrets, %v answers, %d places, %d bytes: nothing found", len(s.all()), s.statuses, found.places, found.bytes)
		})
	}
}

// levels is the one that says more, or both for a soak.
func levels(one string) []string {
	if soaking {
		return []string{"info", "debug"}
	}
	return []string{one}
}

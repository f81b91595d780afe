package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// entry is an entry of the audit as audit.get and audit.export answer it.
type entry struct {
	Time      time.Time      `json:"time"`
	Topic     string         `json:"topic"`
	Partition int32          `json:"partition"`
	Offset    int64          `json:"offset"`
	ID        string         `json:"id"`
	Command   string         `json:"command"`
	Principal string         `json:"principal"`
	Effective string         `json:"effective"`
	Owner     string         `json:"owner"`
	Via       string         `json:"via"`
	Call      string         `json:"call"`
	Client    string         `json:"client"`
	Address   string         `json:"address"`
	Outcome   string         `json:"outcome"`
	Detail    string         `json:"detail"`
	Repeat    bool           `json:"repeat"`
	EventKey  string         `json:"eventKey"`
	Last6     string         `json:"last6"`
	Pipeline  string         `json:"pipeline"`
	User      string         `json:"user"`
	Rule      string         `json:"rule"`
	Keys      []string       `json:"keys"`
	Params    map[string]any `json:"params"`
	Failures  *struct {
		Networks []struct {
			Reasons map[string]int64 `json:"reasons"`
		} `json:"networks"`
	} `json:"failures"`
	Before map[string]any `json:"before"`
	After  map[string]any `json:"after"`
}

// audit reads all pages.
func (c caller) audit(params ...string) (all []entry) {
	c.s.t.Helper()
	for next := ""; ; {
		var page struct {
			Items []entry `json:"items"`
			Next  string  `json:"next"`
		}
		asked := slices.Clone(params)
		if next != "" {
			asked = append(asked, "cursor="+next)
		}
		c.run("audit.get", asked...).want(http.StatusOK).json(&page)
		all = append(all, page.Items...)
		if next = page.Next; next == "" {
			return all
		}
	}
}

// export reads the stream.
func (c caller) export(params ...string) (all []entry) {
	c.s.t.Helper()
	a := c.run("audit.export", params...).want(http.StatusOK)
	if kind := a.header.Get("Content-Type"); kind != "application/x-ndjson" {
		c.s.t.Errorf("exported as %s", kind)
	}
	for scan := bufio.NewScanner(bytes.NewReader(a.body)); scan.Scan(); {
		var e entry
		if err := json.Unmarshal(scan.Bytes(), &e); err != nil {
			c.s.t.Fatalf("line %s: %v", scan.Text(), err)
		}
		all = append(all, e)
	}
	return all
}

// seen waits until the audit has an entry that was written behind an answer.
func (s *service) seen(what string, params ...string) (found entry) {
	s.t.Helper()
	eventually(s.t, what+" is on the audit", func() bool {
		all := s.admin().audit(params...)
		if len(all) > 0 {
			found = all[0]
		}
		return len(all) > 0
	})
	return found
}

// words are the commands and outcomes of entries, the oldest first.
func words(entries []entry) string {
	var list []string
	for _, e := range slices.Backward(entries) {
		list = append(list, e.Command+" "+e.Outcome)
	}
	return strings.Join(list, ", ")
}

// auditor makes a user with the rule that the README recommends.
func (s *service) auditor(name string) caller {
	s.t.Helper()
	who := s.user(name, kimsPassword, "auditor")
	s.command("policy.put", "name=auditors", "roles=auditor", "commands=audit.*,trace.get,webhook.list,run.get", "keys=*").want(http.StatusOK)
	return who
}

// rfc is a time as commands take it.
func rfc(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func wantEntry(t *testing.T, ok bool, e entry) {
	t.Helper()
	if !ok {
		t.Errorf("the entry is %+v", e)
	}
}

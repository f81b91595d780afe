package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// program is what somebody writes who wants to get webhooks.
type program struct {
	t       *testing.T
	address string
	server  *http.Server
	// answer gives the status for the nth call, which came for the time-th time.
	answer func(n, time int) int

	mu   sync.Mutex
	seen map[int]int
	// taken are the calls in the order in which they were answered with 2xx.
	taken []int
}

func startProgram(t *testing.T, answer func(n, time int) int) *program {
	t.Helper()
	p := &program{t: t, address: "127.0.0.1:0", answer: answer, seen: map[int]int{}}
	p.start()
	t.Cleanup(p.stop)
	return p
}

func (p *program) start() {
	p.t.Helper()
	listener, err := net.Listen("tcp", p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.address = listener.Addr().String()
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }()
}

// stop answers what it has begun.
func (p *program) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.server.Shutdown(ctx); err != nil {
		p.t.Error(err)
	}
}

func (p *program) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ N int }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		p.t.Errorf("it got no call: %v", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[body.N]++
	status := p.answer(body.N, p.seen[body.N])
	if status < 300 {
		p.taken = append(p.taken, body.N)
	}
	w.WriteHeader(status)
}

func (p *program) took() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.taken)
}

// waits until it has taken so many calls.
func (p *program) waits(n int) {
	p.t.Helper()
	eventually(p.t, func() bool { return len(p.took()) >= n }, func() string {
		return fmt.Sprintf("it has taken %d calls, not %d", len(p.took()), n)
	})
}

// callEach calls a webhook with a number for each call.
func (s *service) callEach(token string, from, to int) {
	s.t.Helper()
	for n := from; n < to; n++ {
		s.call(token, fmt.Sprintf(`{"n":%d}`, n))
	}
}

func count(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func TestListenForwardsAThousandCallsInOrderWhateverRestarts(t *testing.T) {
	s := start(t)
	token := s.webhook("webhook.listen")
	// Some calls are refused at first.
	p := startProgram(t, func(n, time int) int {
		if n%250 == 17 && time == 1 {
			return http.StatusInternalServerError
		}
		return http.StatusNoContent
	})
	sh := s.asAdmin(t)
	listen := func() *process {
		l := sh.begin("listen", "webhook.listen", "--forward", "http://"+p.address+"/hooks", "-o", "json")
		l.shows("forwarding calls of webhook.listen to http://" + p.address + "/hooks")
		return l
	}
	l := listen()
	s.callEach(token, 0, 300)
	p.waits(100)
	s.stop()
	s.run()
	s.callEach(token, 300, 500)
	p.waits(350)
	p.stop()
	s.callEach(token, 500, 700)
	l.shows("does not answer")
	p.start()
	p.waits(550)
	shown := l.interrupt().want(0).stdout
	s.callEach(token, 700, 800)
	if e := sh.hooklog("listen", "webhook.listen", "--forward", "ftp://x").want(2); !strings.Contains(e.stderr, "as a URL") {
		t.Errorf("it says %q", e.stderr)
	}
	l = listen()
	if e := sh.hooklog("listen", "webhook.listen", "--forward", "http://"+p.address+"/hooks").want(1); !strings.Contains(e.stderr, "another process") {
		t.Errorf("two at the same time: %q", e.stderr)
	}
	s.callEach(token, 800, 1000)
	p.waits(1000)
	shown += l.interrupt().want(0).stdout
	if got := p.took(); !slices.Equal(got, count(1000)) {
		t.Errorf("the program has taken %d calls: %v", len(got), got)
	}
	if strings.Count(shown, `"status":204`) != 1000 || strings.Count(shown, "\n") != 1000 {
		t.Errorf("%d lines are shown, %d of calls that were taken", strings.Count(shown, "\n"), strings.Count(shown, `"status":204`))
	}
}

func TestListenBeginsWhereItIsTold(t *testing.T) {
	s := start(t)
	token := s.webhook("webhook.listen")
	p := startProgram(t, func(int, int) int { return http.StatusOK })
	sh := s.asAdmin(t)
	next := 0
	for _, step := range []struct {
		name  string
		flags []string
		want  []int
	}{
		{"with the next call at first", nil, []int{2}},
		{"where it was left", nil, []int{3, 4, 5}},
		{"with the next call when told so", []string{"--since-now"}, []int{8}},
		{"with the first call when told so", []string{"--from-start"}, count(12)},
	} {
		t.Run(step.name, func(t *testing.T) {
			own := *sh
			own.t = t
			s.callEach(token, next, next+2)
			had := len(p.took())
			l := own.begin(append([]string{"listen", "webhook.listen", "--forward", "http://" + p.address, "-o", "table"}, step.flags...)...)
			l.shows("forwarding calls")
			s.callEach(token, next+2, next+3)
			p.waits(had + len(step.want))
			if e := l.interrupt().want(0); strings.Count(e.stdout, "200 OK\n") != len(step.want) {
				t.Errorf("it shows %q", e.stdout)
			}
			if got := p.took()[had:]; !slices.Equal(got, step.want) {
				t.Errorf("forwarded %v, want %v", got, step.want)
			}
			next += 3
		})
	}
}

func TestWhatTheProgramRefusesIsSentAgainWhereThatMayHelp(t *testing.T) {
	s := start(t)
	token := s.webhook("webhook.listen")
	p := startProgram(t, func(n, time int) int {
		switch {
		case n == 0:
			return http.StatusNotFound
		case n == 1 && time <= 2:
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	s.callEach(token, 0, 3)
	for name, tc := range map[string]struct {
		flag string
		want []int
	}{"by default": {"--skip-errors=false", []int{1, 2}}, "unless told so": {"--skip-errors", []int{2}}} {
		t.Run(name, func(t *testing.T) {
			p.mu.Lock()
			p.seen, p.taken = map[int]int{}, nil
			p.mu.Unlock()
			l := s.asAdmin(t).begin("listen", "webhook.listen", "--forward", "http://"+p.address, "--from-start", tc.flag, "-o", "table")
			l.shows("200 OK")
			p.waits(len(tc.want))
			e := l.interrupt().want(0)
			if got := p.took(); !slices.Equal(got, tc.want) || !strings.Contains(e.stdout, "404 Not Found") {
				t.Errorf("taken %v, shown %q", got, e.stdout)
			}
			if told := strings.Contains(e.stderr, "answered 503 Service Unavailable"); told == strings.Contains(e.stdout, "503") {
				t.Errorf("it says %q, and shows %q", e.stderr, e.stdout)
			}
		})
	}
}

func TestWhatListenShows(t *testing.T) {
	s := start(t)
	s.callEach(s.webhook("webhook.listen"), 0, 2)
	p := startProgram(t, func(n, _ int) int { return []int{http.StatusNotFound, http.StatusCreated}[n] })
	var b strings.Builder
	for i, format := range []string{"table", "json", "yaml"} {
		words := []string{"listen", "webhook.listen", "--forward", "http://" + p.address, "--from-start", "-o", format}
		l := s.asAdmin(t).begin(words...)
		p.waits(i + 1)
		l.shows("201")
		b.WriteString(told(words, l.interrupt()))
	}
	golden(t, "listen", b.String())
}

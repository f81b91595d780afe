package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"hooklog/domain/record"
	"hooklog/transport/telemetry"
)

const (
	// tracingTarget is the least part of its rate that the service should keep when
	// every call is traced.
	tracingTarget = 0.75
	// untracedTarget is the largest part of a call's processor time that telemetry
	// may take when it is off.
	untracedTarget = 0.01
)

// benchTracing compares calls with tracing off and with every call traced and
// exported, to a process that throws the spans away.
func benchTracing(ctx context.Context, p plan) (err error) {
	title("Webhook calls of 1 KiB JSON, embedded broker, sync off: tracing off, and every call traced and exported over OTLP")
	sink, err := startServer(ctx, "sink", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sink.stop()) }()
	for _, connections := range p.connections {
		sides := []side{
			{"off", func(ctx context.Context) (sample, error) { return p.tracedCalls(ctx, "", connections) }},
			{"on", func(ctx context.Context) (sample, error) {
				return p.tracedCalls(ctx, "http://"+sink.Address, connections)
			}},
		}
		samples, err := takeTurns(ctx, p.rounds, sides...)
		if err != nil {
			return err
		}
		fmt.Printf("\n  %d connections\n", connections)
		table(sides, samples)
		compared("on beside off", samples, tracingTarget)
		untraced(middle(samples[0], func(s sample) time.Duration { return s.cpu }))
	}
	return nil
}

func (p plan) tracedCalls(ctx context.Context, collector string, connections int) (sample, error) {
	dir, err := p.fresh()
	if err != nil {
		return sample{}, err
	}
	s, err := startHooklog(ctx, hooklogConfig{Log: logAt{Dir: dir}, Collector: collector})
	if err != nil {
		return sample{}, err
	}
	got, err := s.called(ctx, p, connections)
	return got, errors.Join(err, s.stop(), os.RemoveAll(dir))
}

// untraced measures all that telemetry does in one call when it is off, alone: a
// difference so small is not seen between two services. It counts the ids of the
// trace, which the records have had ever since.
func untraced(call time.Duration) {
	const calls = 1_000_000
	var off *telemetry.Tracer
	r, began := &http.Request{Method: http.MethodPost}, time.Now()
	cpu := ownCPU()
	for range calls {
		server := off.Receive(r, commandPath+"webhook.receive", began, telemetry.Call{})
		event := server.Send("svc.event.webhook.full")
		event.Sent(record.Position{}, nil)
		accepted := server.Send(record.TopicCall)
		accepted.Sent(record.Position{}, nil)
		server.Answered(http.StatusOK, nil)
	}
	cpu = (ownCPU() - cpu) / calls
	share := float64(cpu) / float64(call)
	fmt.Printf("  telemetry when off: %s of a call's %s, %.2f %% (target %.0f %%: %s)\n",
		cpu, call.Round(time.Microsecond), 100*share, 100*untracedTarget, verdict(share <= untracedTarget))
}

// serveSink is the role of a collector that takes everything and keeps nothing.
func serveSink([]byte) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	})}
	go func() { _ = server.Serve(listener) }() // ends with Close
	tell(ready{Address: listener.Addr().String()})
	untilParentEnds()
	return server.Close()
}

// trace has every call of this process traced, or none.
func trace(collector string) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			_ = os.Unsetenv(name) // it is there
		}
	}
	if collector != "" {
		_ = os.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector) // a name that can be set
	}
}

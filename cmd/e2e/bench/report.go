package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// describeMachine says what the figures were measured on.
func describeMachine(p plan) error {
	sync, err := syncTime(p.dir)
	if err != nil {
		return err
	}
	busy, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d processors, load average before the run %s; fsync of 4 KiB takes %s here.\n",
		runtime.Version(), runtime.NumCPU(), strings.Join(strings.Fields(string(busy))[:3], " "), sync.Round(time.Microsecond))
	fmt.Printf("Server and load generator share the processors. Medians of %d rounds of %s in which both sides take turns;\n"+
		"the peak is the highest, acknowledged calls are those of all rounds. Log lines are at info and go to the null device.\n",
		p.rounds, p.measured)
	return nil
}

// syncTime is how long the disk takes to make a small write durable.
func syncTime(dir string) (time.Duration, error) {
	f, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	page := make([]byte, 4<<10)
	took := make([]time.Duration, 51)
	for i := range took {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}
	return middle(took, func(d time.Duration) time.Duration { return d }), nil
}

func title(format string, args ...any) { fmt.Printf("\n"+format+"\n", args...) }

// table prints the sides, each with the medians of its samples.
func table(sides []side, samples [][]sample) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tcalls/s\tp50 ms\tp99 ms\tCPU µs/call\tclient's\tpeak MiB\tacknowledged\t")
	for i, s := range sides {
		var peak int64
		acknowledged := 0
		for _, one := range samples[i] {
			peak = max(peak, one.peak)
			acknowledged += one.acknowledged
		}
		of := samples[i]
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%.2f\t%.1f\t%.1f\t%d\t%d\t\n", s.name, middle(of, rate),
			milliseconds(middle(of, func(s sample) time.Duration { return s.p50 })),
			milliseconds(middle(of, func(s sample) time.Duration { return s.p99 })),
			microseconds(middle(of, func(s sample) time.Duration { return s.cpu })),
			microseconds(middle(of, func(s sample) time.Duration { return s.clientCPU })),
			peak>>20, acknowledged)
	}
	_ = w.Flush() // to the standard output
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// verdict compares a figure with its target.
func verdict(met bool) string {
	if met {
		return "met"
	}
	return "missed"
}

// compared prints how the second side does beside the first; a target of 0 is
// none.
func compared(what string, samples [][]sample, target float64) {
	r := ratio(samples[1], samples[0], rate)
	fmt.Printf("  %s: rate × %.2f", what, r)
	if target > 0 {
		fmt.Printf(" (target %.2f: %s)", target, verdict(r >= target))
	}
	fmt.Printf(", processor time × %.2f\n", ratio(samples[1], samples[0], cpuTime))
}

// memoryTarget is what hooklog may take at most.
const memoryTarget = 200 << 20

func memory(samples []sample) {
	var peak int64
	for _, s := range samples {
		peak = max(peak, s.peak)
	}
	fmt.Printf("  hooklog's peak memory: %d MiB (target under %d: %s)\n", peak>>20, memoryTarget>>20, verdict(peak < memoryTarget))
}

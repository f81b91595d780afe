package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hooklog/cmd/settings"
	"hooklog/cmd/verify"
	"hooklog/domain/record"
)

// verifyTarget is how fast the log is verified at least, beside a bare consumer.
const verifyTarget = 0.5

// benchVerify compares the check of a whole log with a bare consumer of the same
// topics.
func benchVerify(ctx context.Context, p plan) error {
	title("Check of a whole log, embedded broker: a bare consumer of the same topics, and hooklog verify")
	dir, err := p.grownLog(ctx)
	if err != nil {
		return err
	}
	topics, err := verifiedTopics(ctx, dir)
	if err != nil {
		return err
	}
	var bare, checks []reading
	for range p.rounds {
		consumed, err := readAll(ctx, "consume", consuming{dir, topics})
		if err != nil {
			return err
		}
		checked, err := readAll(ctx, "verify", logAt{Dir: dir})
		if err != nil {
			return err
		}
		if checked.Records != consumed.Records {
			return fmt.Errorf("verify read %d records, and there are %d", checked.Records, consumed.Records)
		}
		bare, checks = append(bare, consumed), append(checks, checked)
	}
	perSecond := func(r reading) float64 { return float64(r.Records) / r.Took.Seconds() }
	perRecord := func(r reading) float64 { return microseconds(r.CPU) / float64(r.Records) }
	ratio := middle(checks, perSecond) / middle(bare, perSecond)
	fmt.Printf("  bare consumer %10.0f records/s, %.2f µs CPU a record, %d records\n", middle(bare, perSecond), middle(bare, perRecord), bare[0].Records)
	fmt.Printf("  verify        %10.0f records/s, %.2f µs CPU a record\n", middle(checks, perSecond), middle(checks, perRecord))
	fmt.Printf("  verify beside the bare consumer: × %.2f (target %.2f: %s)\n", ratio, verifyTarget, verdict(ratio >= verifyTarget))
	return nil
}

// verifiedTopics are those that verify reads.
func verifiedTopics(ctx context.Context, dir string) ([]string, error) {
	folder, err := verify.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // it was only read
	topics, err := folder.Topics(ctx)
	return slices.DeleteFunc(topics, func(topic string) bool { return topic == record.TopicSession }), err
}

// verifyLog is the role of hooklog verify.
func verifyLog(config []byte) error {
	var at logAt
	if err := json.Unmarshal(config, &at); err != nil {
		return err
	}
	began, cpu := time.Now(), ownCPU()
	key, err := verify.ReadKey(settings.Config{DataDir: at.Dir}.CheckpointKeyPath())
	if err != nil {
		return err
	}
	folder, err := verify.OpenFolder(at.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // it was only read
	report, err := verify.Run(context.Background(), folder, verify.Options{
		Key: key, Retention: func(string) time.Duration { return 0 }, Now: time.Now(),
	})
	if err != nil {
		return err
	}
	if len(report.Differences) > 0 || report.Checkpoints == 0 || report.Events.Checked == 0 {
		return fmt.Errorf("the log is not proved: %+v", report)
	}
	tell(reading{Records: report.Records, Took: time.Since(began), CPU: ownCPU() - cpu})
	return nil
}

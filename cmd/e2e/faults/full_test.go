//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk mounts a file system with few bytes, or skips the test where that is
// not allowed.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%d", bytes))
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root can mount a small file system: a full disk is not tried")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, 0); err != nil {
			t.Error(err)
		}
	})
	return path
}

// ballast fills a disk but for some bytes, while others write too, until it is
// removed.
func ballast(t *testing.T, disk string, free int64) (remove func()) {
	t.Helper()
	path := filepath.Join(disk, "ballast")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	chunk := make([]byte, 64<<10)
	for err == nil && freeOn(t, disk) > free {
		_, err = file.Write(chunk)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func freeOn(t *testing.T, disk string) int64 {
	t.Helper()
	var have syscall.Statfs_t
	if err := syscall.Statfs(disk, &have); err != nil {
		t.Fatal(err)
	}
	return int64(have.Bavail) * int64(have.Bsize)
}

// TestFullDisk fills the disk under load, makes room again, fills it again, and
// kills the service: whatever it has acknowledged must be there afterwards.
func TestFullDisk(t *testing.T) {
	embeddedOnly(t)
	const leastRefused, leastCalls = 50, 100
	disk := smallDisk(t, 256<<20)
	data := filepath.Join(disk, "data")
	// The projections have room: without any, the service would end.
	if err := errors.Join(os.Mkdir(data, 0o700), os.Symlink(t.TempDir(), folder(data).state())); err != nil {
		t.Fatal(err)
	}
	args := []string{"--data-dir", data}
	all := newLedger()
	rounds := counts(2, 15)
	for round := range rounds {
		p := serve(t, nil, args...)
		all.verify(t, p)
		if round == 0 {
			all.open(t, p.client, 3)
		}
		gone := all.load(p.client, fmt.Sprintf("round-%d", round), uint64(round), 4, 1)
		for range 2 {
			remove := ballast(t, disk, 300<<10)
			refused := all.refusals()
			eventually(t, "the disk is full", func() bool { return all.refusals() >= refused+leastRefused })
			remove()
			calls, _ := all.counts()
			eventually(t, "calls are taken again", func() bool {
				now, _ := all.counts()
				return now >= calls+leastCalls
			})
		}
		remove := ballast(t, disk, 300<<10)
		refused := all.refusals()
		eventually(t, "the disk is full again", func() bool { return all.refusals() >= refused+leastRefused })
		if !strings.Contains(p.logs.String(), "no space left on device") {
			t.Errorf("the operator is not told:\n%s", p.logs)
		}
		p.kill(t)
		gone()
		remove()
	}
	p := serve(t, nil, args...)
	all.verify(t, p)
	p.works(t, "webhook.afterwards")
	p.terminate(t)
	for status, n := range all.refused {
		if status != http.StatusServiceUnavailable {
			t.Errorf("%d calls or commands were answered %d", n, status)
		}
	}
	calls, commands := all.counts()
	t.Logf("the disk was full %d times: %d answers were 503; 0 of %d acknowledged calls lost, 0 of %d acknowledged commands lost",
		3*rounds, all.refusals(), calls, commands)
}

// TestFullDiskOfTheProjections leaves room for the log alone. The projections
// cannot go on then, and neither can the service: it ends with the reason.
func TestFullDiskOfTheProjections(t *testing.T) {
	embeddedOnly(t)
	disk := smallDisk(t, 64<<20)
	data := filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.Mkdir(data, 0o700), os.Symlink(disk, folder(data).state())); err != nil {
		t.Fatal(err)
	}
	p := serve(t, nil, "--data-dir", data)
	all := newLedger()
	all.open(t, p.client, 3)
	gone := all.load(p.client, "full", 1, 4, 1)
	eventually(t, "enough is acknowledged", func() bool { calls, _ := all.counts(); return calls >= 100 })
	remove := ballast(t, disk, 4<<10)
	code := p.exit(t)
	gone()
	if code <= 0 || !strings.Contains(p.logs.String(), "no space left on device") {
		t.Fatalf("it ended with %s\n%s", p.cmd.ProcessState, p.logs)
	}
	remove()
	p = serve(t, nil, "--data-dir", data)
	all.verify(t, p)
	p.works(t, "webhook.afterwards")
	p.terminate(t)
	calls, commands := all.counts()
	t.Logf("0 of %d acknowledged calls lost, 0 of %d acknowledged commands lost", calls, commands)
}

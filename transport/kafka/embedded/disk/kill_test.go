package disk_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/transport/kafka/embedded"
)

// A process that is to be killed finds its folder in one variable, and in the
// other whether it syncs.
const (
	victimFolder = "HOOKLOG_TEST_VICTIM_FOLDER"
	victimSync   = "HOOKLOG_TEST_VICTIM_SYNC"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimFolder); dir != "" {
		panic(appendForEver(dir))
	}
	os.Exit(m.Run())
}

// appendForEver appends from several callers at once, makes topics, commits
// offsets, and tells each record as soon as it is confirmed. When asked to end,
// it begins to.
func appendForEver(dir string) error {
	r, err := open(embedded.Config{Dir: dir, Sync: os.Getenv(victimSync) == "true"})
	if err != nil {
		return err
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	go func() {
		<-asked
		r.broker.Close()
	}()
	ctx := context.Background()
	var out sync.Mutex
	var made sync.Map
	life := rand.Uint32()
	failed := make(chan error)
	for caller := range 6 {
		go func() {
			for i := 0; ; i++ {
				topic := fmt.Sprintf("svc.event.webhook.c%d", rand.IntN(8))
				if i%50 == 0 {
					topic = fmt.Sprintf("svc.event.webhook.n%d-%d-%d", life, caller, i)
				}
				if _, made := made.LoadOrStore(topic, nil); !made {
					if err := r.create(ctx, topic); err != nil && !strings.Contains(err.Error(), "EXISTS") {
						failed <- err
					}
				}
				record := kgo.Record{Topic: topic, Value: fmt.Appendf(nil, "%d-%d-%d-%s", life, caller, i, strings.Repeat("y", rand.IntN(30_000)))}
				if err := r.client.ProduceSync(ctx, &record).FirstErr(); err != nil {
					select {} // it ends
				}
				out.Lock()
				fmt.Println(topic, record.Offset, string(record.Value))
				out.Unlock()
				if i%10 == 9 {
					offsets := make(kadm.Offsets)
					offsets.AddOffset(topic, 0, record.Offset, -1)
					_ = r.admin.CommitAllOffsets(ctx, "readers", offsets)
				}
			}
		}()
	}
	return <-failed
}

// kill lets a process append to the folder for a while, kills it, sometimes in
// the middle of its orderly end, and gives what was confirmed: the values by
// topic and offset.
func kill(t *testing.T, dir string, sync bool) map[string]string {
	t.Helper()
	victim := exec.CommandContext(t.Context(), os.Args[0])
	victim.Env = append(os.Environ(), victimFolder+"="+dir, fmt.Sprint(victimSync, "=", sync))
	end := func() {
		if rand.IntN(3) == 0 {
			_ = victim.Process.Signal(syscall.SIGTERM)
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // any moment will do
		}
		_ = victim.Process.Kill()
	}
	var complaint strings.Builder
	victim.Stderr = &complaint
	stdout, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	confirmed := make(map[string]string)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if len(confirmed) == 0 {
			time.AfterFunc(time.Duration(20+rand.IntN(130))*time.Millisecond, end)
		}
		if words := strings.Fields(lines.Text()); len(words) == 3 {
			confirmed[words[0]+" "+words[1]] = words[2]
		}
	}
	_ = victim.Wait()
	if complaint.Len() > 0 {
		t.Fatal(complaint.String())
	}
	return confirmed
}

func TestNothingConfirmedIsLostWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	for name, sync := range map[string]bool{"synced": true, "not synced": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const kills = 6
			dir := t.TempDir()
			confirmed := make(map[string]string)
			for range kills {
				maps.Copy(confirmed, kill(t, dir, sync))
			}
			if len(confirmed) < kills {
				t.Errorf("only %d records were confirmed", len(confirmed))
			}
			t.Logf("%d kills, %d records confirmed", kills, len(confirmed))
			r := mustOpen(t, dir)
			defer r.stop()
			for topic, records := range r.read(t).Records {
				for i, record := range records {
					at := fmt.Sprint(topic, " ", i)
					if want, there := confirmed[at]; there && !strings.HasPrefix(record, fmt.Sprint(i, " ", want)) {
						t.Errorf("%s holds something else", at)
					}
					delete(confirmed, at)
				}
			}
			for at := range confirmed {
				t.Errorf("%s was confirmed and is lost", at)
			}
		})
	}
}

package doctor_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hooklog/cmd/doctor"
	"hooklog/cmd/settings"
	"hooklog/transport/kafka/embedded"
	"hooklog/transport/keyring"
)

func TestTheDataFolder(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil  func(t *testing.T, cfg *settings.Config)
		status doctor.Status
		text   string
	}{
		"closed to others": {func(*testing.T, *settings.Config) {}, doctor.OK, "no service runs on it"},
		"open to others": {func(t *testing.T, cfg *settings.Config) {
			chmod(t, cfg.DataDir, 0o755)
		}, doctor.Failed, "chmod 700"},
		"closed to its owner": {func(t *testing.T, cfg *settings.Config) {
			chmod(t, cfg.DataDir, 0o500)
		}, doctor.Failed, "chmod 700"},
		"a file": {func(t *testing.T, cfg *settings.Config) {
			cfg.DataDir = filepath.Join(t.TempDir(), "file")
			write(t, cfg.DataDir, nil)
		}, doctor.Failed, "is a file"},
		"not there yet": {func(t *testing.T, cfg *settings.Config) {
			cfg.DataDir = filepath.Join(t.TempDir(), "some", "where")
		}, doctor.OK, "the first start makes it"},
		"with a file of another user": {func(t *testing.T, cfg *settings.Config) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			if err := os.Chown(cfg.StateDir(), 12345, -1); err != nil {
				t.Fatal(err)
			}
		}, doctor.Failed, "belongs to user 12345"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := healthy(t)
			for _, folder := range []string{cfg.DataDir, cfg.StateDir()} {
				if err := os.Mkdir(folder, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			tc.spoil(t, &cfg)
			examine(t, cfg).want("data folder", tc.status, tc.text)
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestTheRoomOnTheDisk(t *testing.T) {
	const gib = 1 << 30
	for name, tc := range map[string]struct {
		free, growth int64
		want         doctor.Status
	}{
		"plenty":                     {100 * gib, 4 * gib, doctor.OK},
		"less than the log may take": {3 * gib, 4 * gib, doctor.Warning},
		"little":                     {gib / 2, 0, doctor.Warning},
		"none":                       {1000, 0, doctor.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			found{t, doctor.Report{Findings: doctor.JudgeDisk(tc.free, tc.growth)}}.want("disk", tc.want, "free")
		})
	}
}

func TestTheRoomOfAnEmbeddedLog(t *testing.T) {
	sound := embedded.Room{Bytes: 1, MaxBytes: 100, Memory: 400, EventTopics: 1, TopicLimit: 10, LimitReason: "raise it"}
	for name, tc := range map[string]struct {
		change func(*embedded.Room)
		check  string
		want   doctor.Status
	}{
		"a small log":               {func(*embedded.Room) {}, "log size", doctor.OK},
		"a log that is nearly full": {func(r *embedded.Room) { r.Bytes = 80 }, "log size", doctor.Warning},
		"a full log":                {func(r *embedded.Room) { r.Bytes = 100 }, "log size", doctor.Failed},
		"memory for it":             {func(*embedded.Room) {}, "memory", doctor.OK},
		"little memory for it":      {func(r *embedded.Room) { r.Memory = 150 }, "memory", doctor.Warning},
		"unknown memory":            {func(r *embedded.Room) { r.Memory = math.MaxInt64 }, "memory", doctor.Warning},
		"few topics":                {func(*embedded.Room) {}, "open files", doctor.OK},
		"many topics":               {func(r *embedded.Room) { r.EventTopics = 8 }, "open files", doctor.Warning},
		"too many topics":           {func(r *embedded.Room) { r.EventTopics = 11 }, "open files", doctor.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			room := sound
			tc.change(&room)
			found{t, doctor.Report{Findings: doctor.JudgeRoom(room)}}.want(tc.check, tc.want, "")
		})
	}
}

func TestTheKeyRing(t *testing.T) {
	cfg := lived(t)
	ring := cfg.KeyRingPath()
	f := examine(t, cfg)
	f.want("key ring", doctor.OK, "is the one of this log")
	f.want("embedded log", doctor.OK, "read whole")
	f.wantNone(doctor.Failed)

	chmod(t, ring, 0o640)
	examine(t, cfg).want("key ring", doctor.Failed, "chmod 600")
	chmod(t, ring, 0o600)

	if err := os.Rename(ring, ring+".kept"); err != nil {
		t.Fatal(err)
	}
	examine(t, cfg).want("key ring", doctor.Failed, "restore it from a backup")

	if err := keyring.Create(ring); err != nil {
		t.Fatal(err)
	}
	examine(t, cfg).want("key ring", doctor.Failed, "is not the ring of this log")

	write(t, ring, []byte("no ring"))
	examine(t, cfg).want("key ring", doctor.Failed, "restore the ring")
}

func TestADamagedLogIsToldWithItsPlace(t *testing.T) {
	cfg := lived(t)
	segment := filepath.Join(cfg.DataDir, "log", "partitions", "svc.command-0", "0.dat")
	content, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	content[100] ^= 1
	write(t, segment, content)
	f := examine(t, cfg)
	f.want("embedded log", doctor.Failed, segment+" at byte 0")
	f.want("embedded log", doctor.Failed, "backup")
	f.want("key ring", doctor.Warning, "could not be held against the log")

	write(t, segment, content[:70])
	examine(t, cfg).want("embedded log", doctor.Failed, "rebuild --accept-truncation")
}

func TestAClockThatWasNeverSet(t *testing.T) {
	examineAt(t, healthy(t), func() time.Time { return time.Unix(0, 0) }).want("clock", doctor.Failed, "1970")
}

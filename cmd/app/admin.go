package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"hooklog/cmd/settings"
	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
	"hooklog/transport/commands"
)

const (
	// checkField and checkValue are what the first command seals: a ring that
	// opens it is the right one.
	checkField = "cluster.check"
	checkValue = "hooklog"

	commandTimeout = 10 * time.Second
)

var errNoAdmin = errors.New("there is no administrator yet; start the service once: hooklog serve")

// bootstrap makes sure that the log has its first command, and that this ring is
// the one that sealed it. Of concurrent first starts one wins, and all agree.
func (e *engine) bootstrap(ctx context.Context) error {
	_, started, err := e.registry.Cluster()
	if err != nil {
		return err
	}
	if !started {
		if err := e.initCluster(ctx); err != nil {
			return fmt.Errorf("create the administrator: %w", err)
		}
	}
	if err := e.checkRing(); err != nil {
		return err
	}
	if len(e.registry.SigningKeys()) == 0 {
		if err := e.initKey(ctx); err != nil {
			return fmt.Errorf("create the signing key: %w", err)
		}
	}
	if _, made, err := e.registry.CheckpointKey(); err != nil {
		return err
	} else if !made {
		if err := e.initCheckpoints(ctx); err != nil {
			return fmt.Errorf("create the key of the checkpoints: %w", err)
		}
	}
	return e.adoptPassword()
}

// initKey brings the realm's first signing key.
func (e *engine) initKey(ctx context.Context) error {
	id := uuid.NewString()
	key, err := commands.NewSigningKey(e.ring, id)
	if err != nil {
		return err
	}
	err = e.operate(ctx, id, registry.KeyInit, key)
	if fault.Is(err, fault.Conflict) { // another instance was first
		return nil
	}
	return err
}

func (e *engine) checkRing() error {
	cluster, started, err := e.registry.Cluster()
	if err != nil {
		return err
	}
	if !started {
		return errNoAdmin
	}
	if !opensCheck(e.ring, cluster.CheckedBy, cluster.Check) {
		return fmt.Errorf("key ring %s is not the one of this log; start with the ring that the log was made with", e.cfg.KeyRingPath())
	}
	return nil
}

func (e *engine) initCluster(ctx context.Context) error {
	id := uuid.NewString()
	check, err := e.ring.Seal(checkField, id, []byte(checkValue))
	if err != nil {
		return err
	}
	hash, err := e.newPassword()
	if err != nil {
		return err
	}
	err = e.operate(ctx, id, registry.ClusterInit, registry.InitParams{
		Check: check.Reveal(),
		Admin: access.User{
			Name: access.Administrator, PasswordHash: hash,
			Roles: []string{access.RoleAdministrator}, Version: 1,
		},
	})
	if fault.Is(err, fault.Conflict) { // another instance was first
		return nil
	}
	return err
}

// ResetAdmin gives the administrator a new password: the one in the settings, or
// else one that is made.
func ResetAdmin(ctx context.Context, cfg settings.Config, deps Deps) (err error) {
	if cfg.Embedded() && !hasLog(cfg) { // perhaps the wrong folder, which is left as it is
		return fmt.Errorf("%s holds no log: %w", cfg.DataDir, errNoAdmin)
	}
	e, err := openEngine(ctx, cfg, deps, newStatus(), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	if err := e.checkRing(); err != nil {
		return err
	}
	hash, err := e.newPassword()
	if err != nil {
		return err
	}
	if err := e.operate(ctx, uuid.NewString(), registry.AdminReset, registry.ResetParams{PasswordHash: hash}); err != nil {
		return err
	}
	if err := e.adoptPassword(); err != nil {
		return err
	}
	if !cfg.AdminPassword.IsZero() {
		if err := os.Remove(cfg.AdminPasswordFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err // an old password left there would mislead
		}
		_, err = fmt.Fprintln(deps.Out, "The administrator has the password in HOOKLOG_ADMIN_PASSWORD.")
		return err
	}
	_, err = fmt.Fprintln(deps.Out, "The administrator's new password is in", cfg.AdminPasswordFile())
	return err
}

// operate appends an internal command and waits for its outcome.
func (e *engine) operate(ctx context.Context, id, name string, params any) error {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	outcomes, stop := e.registry.Await(id, "")
	defer stop()
	if err := e.say(ctx, id, name, params); err != nil {
		return err
	}
	select {
	case outcome := <-outcomes:
		return outcome.Err()
	case err := <-e.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// say appends an internal command.
func (e *engine) say(ctx context.Context, id, name string, params any) error {
	encoded, err := json.Marshal(params)
	if err != nil {
		return err
	}
	rec, err := registry.Command{
		ID: id, Name: name, Params: encoded, Principal: access.System,
		Time: e.deps.Now().UTC().Truncate(time.Millisecond),
	}.Encode()
	if err != nil {
		return err
	}
	_, err = e.log.AppendWait(ctx, &rec)
	return err
}

// candidateFile holds a made password until the log says that it counts: so a
// crash in between neither loses the password nor leaves a wrong one.
func candidateFile(cfg settings.Config) string { return cfg.AdminPasswordFile() + ".new" }

// newPassword gives the hash of the password in the settings, or of one that it
// makes into the candidate file.
func (e *engine) newPassword() (hash string, err error) {
	password := e.cfg.AdminPassword
	if password.IsZero() {
		password = auth.NewPassword()
		if err := writeSecret(candidateFile(e.cfg), password); err != nil {
			return "", err
		}
	}
	return auth.Hash(password)
}

// adoptPassword makes a candidate the password file when it is the password of
// the administrator on the log, and drops it when it is not.
func (e *engine) adoptPassword() error {
	text, err := os.ReadFile(candidateFile(e.cfg))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	admin, _, err := e.registry.User(access.Administrator)
	if err != nil {
		return err
	}
	counts, err := auth.Verify(admin.PasswordHash, secret.NewPassword(trimNewline(text)))
	if err != nil {
		return err
	}
	if !counts {
		return os.Remove(candidateFile(e.cfg))
	}
	return os.Rename(candidateFile(e.cfg), e.cfg.AdminPasswordFile())
}

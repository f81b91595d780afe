package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
)

func readerPasswordFile(cfg settings.Config) string {
	return filepath.Join(cfg.KeysDir(), "reader-password")
}

// readerPassword is that of the Kafka window: from the settings, or made once
// into its file.
func readerPassword(cfg settings.Config) (secret.Password, error) {
	if !cfg.EmbeddedReaderPassword.IsZero() {
		return cfg.EmbeddedReaderPassword, nil
	}
	text, err := os.ReadFile(readerPasswordFile(cfg))
	if err == nil {
		return secret.NewPassword(trimNewline(text)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return secret.Password{}, err
	}
	made := auth.NewPassword()
	return made, writeSecret(readerPasswordFile(cfg), made)
}

// writeSecret writes a secret for its owner alone, whole or not at all.
func writeSecret(path string, p secret.Password) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(p.Reveal() + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(part, path)
}

func trimNewline(text []byte) string { return strings.TrimRight(string(text), "\r\n") }

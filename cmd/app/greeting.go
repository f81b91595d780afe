package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hooklog/cmd/settings"
)

// greet tells the operator where the service is and what to do first, with lines
// to paste one after the other, at any start: the idempotency key makes the
// first line find the webhook that an earlier start left. Passwords are named,
// never shown.
func greet(a *App, cfg settings.Config, out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nhooklog is ready at %s\n", a.baseURL)
	if ops := a.OpsAddr(); ops != nil {
		fmt.Fprintf(&b, "Health, metrics and profiles for operators: http://%s/readyz\n", ops)
	}
	curl := "curl -sS"
	if cfg.TLS() {
		curl += " --cacert " + quote(cfg.TLSCert)
	}
	fmt.Fprintf(&b, `
Create a webhook and keep its URL:
  URL=$(%[1]s -u "admin:%[2]s" -H 'Idempotency-Key: demo' "%[3]s/api/v3/command/webhook.put" -d eventKey=webhook.demo | tee /dev/stderr | %[4]s)

Call it and keep the id of the result:
  ID=$(%[1]s "$URL" -H 'Content-Type: application/json' -d '{"hello":"world"}' | tee /dev/stderr | %[5]s)

Poll for the result:
  %[1]s -L "%[3]s/api/v3/result?svc-result-correlationid=$ID"
`, curl, adminPassword(cfg), a.baseURL, pick("webhookUrl"), pick("correlationId"))
	if a.window != nil {
		fmt.Fprintf(&b, `
Read the events with an ordinary Kafka client:
  kcat -b %s -X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=PLAIN -X sasl.username=reader -X sasl.password="%s" -C -t svc.event.webhook.demo -o beginning -f '%%h\n%%s\n'
As a consumer group that goes on where it stopped, end it instead with:
  -X auto.offset.reset=earliest -G my-group svc.event.webhook.demo
`, a.window, readerPasswordText(cfg))
	}
	_, err := io.WriteString(out, b.String()+"\n")
	return err
}

// pick is the command that finds a string member in one line of JSON.
func pick(member string) string {
	return `sed -n 's/.*"` + member + `":"\([^"]*\)".*/\1/p'`
}

func adminPassword(cfg settings.Config) string {
	if _, err := os.Stat(cfg.AdminPasswordFile()); err == nil {
		return "$(cat " + quote(cfg.AdminPasswordFile()) + ")"
	}
	return "$HOOKLOG_ADMIN_PASSWORD"
}

func readerPasswordText(cfg settings.Config) string {
	if !cfg.EmbeddedReaderPassword.IsZero() {
		return "$HOOKLOG_EMBEDDED_READER_PASSWORD"
	}
	return "$(cat " + quote(readerPasswordFile(cfg)) + ")"
}

// quote makes a path safe to paste into the shell of another folder.
func quote(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !strings.ContainsRune(pathRunes, r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

const pathRunes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./"

package metrics

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

type commands struct {
	answered metric.Int64Counter
	duration histogram
	logins   metric.Int64Counter
}

func newCommands(mk *maker) commands {
	return commands{
		answered: mk.counter("hooklog_commands_total", "Management commands that were answered."),
		duration: mk.histogram("hooklog_command_duration_seconds", "How long a management command took."),
		logins:   mk.counter("hooklog_logins_total", "Credentials that were checked, or refused unseen."),
	}
}

// Command counts a command of the catalog that a caller ran.
func (m *Metrics) Command(name string, took time.Duration, err error) {
	command := attribute.String("command", name)
	m.commands.answered.Add(background, 1, metric.WithAttributes(command, attribute.String("outcome", outcome(err))))
	m.commands.duration.take(took, []metric.RecordOption{metric.WithAttributes(command)})
}

// Login counts an attempt to log in.
func (m *Metrics) Login(err error) {
	m.commands.logins.Add(background, 1, metric.WithAttributes(attribute.String("outcome", outcome(err))))
}

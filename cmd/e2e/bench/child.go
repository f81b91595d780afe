package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// child is this program in one of its roles. It tells its parent what happens in
// lines of JSON and ends when its input ends, so it outlives nobody. Its log
// lines are formatted and written, to the null device.
type child struct {
	cmd  *exec.Cmd
	life io.Closer
	told *json.Decoder
}

// failure is the last message of a child that failed.
type failure struct {
	Error string `json:"error"`
}

func startChild(ctx context.Context, role string, config any) (*child, error) {
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, self, role, string(encoded))} //nolint:gosec // G204: it is this program itself
	// As the service runs; the bare handler gets the same.
	c.cmd.Env = append(os.Environ(), "GOGC=400")
	if c.life, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	told, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.told = json.NewDecoder(told)
	return c, c.cmd.Start()
}

// hear waits for the next message of the child.
func (c *child) hear(into any) error {
	var message json.RawMessage
	if err := c.told.Decode(&message); err != nil {
		return fmt.Errorf("%s ended early: %w", c.cmd.Args[1], errors.Join(err, c.stop()))
	}
	var failed failure
	if err := json.Unmarshal(message, &failed); err == nil && failed.Error != "" {
		_ = c.stop() // it says less than the message
		return fmt.Errorf("%s: %s", c.cmd.Args[1], failed.Error)
	}
	return json.Unmarshal(message, into)
}

// stop ends the child in order.
func (c *child) stop() error {
	_ = c.life.Close()
	return c.cmd.Wait()
}

// untilParentEnds returns when the parent calls stop, or is no more.
func untilParentEnds() { _, _ = io.Copy(io.Discard, os.Stdin) }

// clockTick is the unit of processor time in /proc, the same on every Linux.
const clockTick = 10 * time.Millisecond

// cpu is the processor time that the child has used so far.
func (c *child) cpu() (time.Duration, error) {
	text, err := c.proc("stat")
	if err != nil {
		return 0, err
	}
	// The name in parentheses may hold anything; behind it, user and system time
	// are the 12th and 13th field.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("processor time of a process is not readable: %q", text)
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * clockTick, err
}

// peak is the most memory that the child ever had, in bytes.
func (c *child) peak() (int64, error) {
	text, err := c.proc("status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(rest, "kB")
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return kilobytes << 10, err
}

func (c *child) proc(file string) ([]byte, error) {
	return os.ReadFile(fmt.Sprintf("/proc/%d/%s", c.cmd.Process.Pid, file))
}

package doctor_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal gives both ends of a new terminal.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this machine gives no terminals:", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	var locked, number int32
	control(t, screen, syscall.TIOCSPTLCK, &locked)
	control(t, screen, syscall.TIOCGPTN, &number)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, program
}

func control(t *testing.T, file *os.File, request uintptr, value *int32) {
	t.Helper()
	// The kernel reads or writes the one number.
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
		t.Fatal(errno)
	}
}

func TestProgressIsForTerminalsAlone(t *testing.T) {
	args := []string{"doctor", "--data-dir", filepath.Join(t.TempDir(), "data"), "--listen", freeAddress(t)}
	t.Run("on a terminal", func(t *testing.T) {
		screen, program := openTerminal(t)
		cmd := hooklog(t, args...)
		var table bytes.Buffer
		cmd.Stdout, cmd.Stderr = &table, program
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		_ = program.Close()
		shown, _ := io.ReadAll(screen) // it ends with an error when the program's end is closed
		if !strings.Contains(string(shown), "checks are done") || !strings.HasSuffix(string(shown), "\r\x1b[K") {
			t.Errorf("the terminal shows %q", shown)
		}
		if strings.Contains(table.String(), "\x1b") || !strings.HasPrefix(table.String(), "ok       settings") {
			t.Errorf("the table is %q", &table)
		}
	})
	t.Run("in a pipe", func(t *testing.T) {
		cmd := hooklog(t, args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Run(); err != nil || errs.Len() != 0 {
			t.Errorf("%v %q", err, &errs)
		}
	})
}

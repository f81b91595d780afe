package app

import (
	"errors"
	"net"
	"os"
	"strconv"

	"hooklog/cmd/settings"
)

// announce leaves in the data folder where the service is, for the command line
// on the same machine, which finds the administrator's password there too. After
// a crash it stays until the next start.
func (a *App) announce() error {
	cfg := a.engine.cfg
	path := cfg.AddressFile()
	if err := os.WriteFile(path, []byte(localURL(cfg, a.fronts.public.addr)+"\n"), 0o600); err != nil {
		return err
	}
	a.engine.onClose(func() error {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
	return nil
}

// localURL is how this machine reaches the service, whatever others call it.
func localURL(cfg settings.Config, listening net.Addr) string {
	host, port := "127.0.0.1", 0
	if tcp, ok := listening.(*net.TCPAddr); ok {
		port = tcp.Port
		if !tcp.IP.IsUnspecified() {
			host = tcp.IP.String()
		}
	}
	scheme := "http://"
	if cfg.TLS() {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, strconv.Itoa(port))
}

package client

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// ByPage shows the address of the issuer's log-in page, and waits until the
// browser comes back to this machine with a code (RFC 8252, with PKCE).
func (i *Issuer) ByPage(ctx context.Context, show func(address string)) (*oauth2.Token, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("wait for the browser: %w", err)
	}
	config := i.config
	config.RedirectURL = "http://" + listener.Addr().String() + "/"
	state, verifier := rand.Text(), oauth2.GenerateVerifier()

	codes := make(chan string, 1)
	server := &http.Server{Handler: comeBack(state, codes), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	defer func() {
		// The browser may still be reading what it was told.
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(ending)
	}()

	show(config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)))
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case code := <-codes:
		if code == "" {
			return nil, errors.New("the log-in was refused on the issuer's page")
		}
		token, err := config.Exchange(i.with(ctx), code, oauth2.VerifierOption(verifier))
		return token, i.refusal(err)
	}
}

// comeBack takes the code that the browser brings, and nothing from whoever does
// not know the state. An empty code means that the issuer refused.
func comeBack(state string, codes chan<- string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(state)) != 1 {
			http.NotFound(w, r)
			return
		}
		select {
		case codes <- query.Get("code"):
		default: // it came twice
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintln(w, "You can close this window and go back to the terminal.")
	})
}

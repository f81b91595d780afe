package window

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	user      = "reader"
	mechanism = "PLAIN"

	// loginTimeout is how long a connection may stay without a login.
	loginTimeout = 10 * time.Second
)

var (
	errNoLogin   = errors.New("request before login")
	errMechanism = errors.New("unsupported SASL mechanism")
	errPassword  = errors.New("wrong user or password")
)

// login answers a new connection until it has proved to be the reader. The
// broker knows nothing of it before.
func (w *Window) login(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(loginTimeout)); err != nil {
		return err
	}
	handshaken := false
	for {
		frame, err := readFrame(conn, maxRequest)
		if err != nil {
			return err
		}
		req, err := parseRequest(frame)
		if err != nil {
			return err
		}
		var resp kmsg.Response
		var refusal error
		loggedIn := false
		switch body := req.body.(type) {
		case *kmsg.ApiVersionsRequest:
			resp = apiVersions(body)
		case *kmsg.SASLHandshakeRequest:
			resp, refusal = handshake(body)
			handshaken = true
		case *kmsg.SASLAuthenticateRequest:
			if !handshaken {
				return errNoLogin
			}
			resp, refusal = w.authenticate(body)
			loggedIn = refusal == nil
		default:
			return errNoLogin
		}
		if _, err := conn.Write(req.responseFrame(resp)); err != nil {
			return err
		}
		if refusal != nil {
			return refusal
		}
		if loggedIn {
			return conn.SetDeadline(time.Time{})
		}
	}
}

func handshake(req *kmsg.SASLHandshakeRequest) (kmsg.Response, error) {
	resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
	resp.SupportedMechanisms = []string{mechanism}
	// Version 0 would be followed by bytes that are no Kafka request.
	if req.Mechanism != mechanism || req.Version == 0 {
		resp.ErrorCode = kerr.UnsupportedSaslMechanism.Code
		return resp, errMechanism
	}
	return resp, nil
}

func (w *Window) authenticate(req *kmsg.SASLAuthenticateRequest) (kmsg.Response, error) {
	resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
	if !w.isReader(req.SASLAuthBytes) {
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		resp.ErrorMessage = kmsg.StringPtr("wrong user or password")
		return resp, errPassword
	}
	return resp, nil
}

// isReader checks a PLAIN message: who to act as (nobody else), NUL, user, NUL,
// password. Digests are compared, so that time tells not even the length.
func (w *Window) isReader(plain []byte) bool {
	fields := bytes.Split(plain, []byte{0})
	if len(fields) != 3 {
		return false
	}
	actAs, name, password := string(fields[0]), string(fields[1]), fields[2]
	given, want := sha256.Sum256(password), sha256.Sum256([]byte(w.password.Reveal()))
	equal := subtle.ConstantTimeCompare(given[:], want[:]) == 1
	return equal && name == user && (actAs == "" || actAs == user)
}

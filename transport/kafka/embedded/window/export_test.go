package window

import "io"

// Understand does with a client's bytes what the window does before it asks the
// broker, and gives what it would send there.
func Understand(client io.Reader) ([]byte, error) {
	frame, err := readFrame(client, maxRequest)
	if err != nil {
		return nil, err
	}
	req, err := parseRequest(frame)
	if err != nil {
		return nil, err
	}
	if err := check(req.body); err != nil {
		return nil, err
	}
	return req.frame(), nil
}

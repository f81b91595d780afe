package window

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxRequest is far above any consumer's request.
	maxRequest = 1 << 20
	// maxResponse leaves room for a full fetch whose first batch is over the
	// limit of fetches, and for the metadata of every topic.
	maxResponse = 64 << 20

	lengthSize = 4
)

var (
	errFrameLength = errors.New("frame length out of bounds")
	errMalformed   = errors.New("malformed request")
)

// readFrame reads one length-prefixed frame and returns it with its prefix, so
// that it can be written on as it is. It allocates only after it has seen that
// the length is within limit.
func readFrame(r io.Reader, limit uint32) ([]byte, error) {
	var prefix [lengthSize]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(prefix[:]) // a negative length is a huge one
	if length == 0 || length > limit {
		return nil, errFrameLength
	}
	frame := make([]byte, lengthSize+length)
	copy(frame, prefix[:])
	if _, err := io.ReadFull(r, frame[lengthSize:]); err != nil {
		// EOF inside a frame is no orderly end.
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return frame, nil
}

// request is a client's request, known to be of a served API and version; but
// for ApiVersions, none of them is flexible.
type request struct {
	body        kmsg.Request
	correlation int32
	client      *string
}

// parseRequest reads a whole frame of a client.
func parseRequest(frame []byte) (request, error) {
	reader := kbin.Reader{Src: frame[lengthSize:]}
	key, version := reader.Int16(), reader.Int16()
	req := request{correlation: reader.Int32(), client: reader.NullableString()}
	if !reader.Ok() {
		return request{}, errMalformed
	}
	if key == int16(kmsg.ApiVersions) && version >= 0 {
		// The answer needs nothing but the version, and there is one for clients
		// newer than we know. What follows is not read: it may have tags, and the
		// library counts to any number of tags, whether they are there or not.
		req.body = &kmsg.ApiVersionsRequest{Version: version}
		return req, nil
	}
	if !isServed(key, version) {
		return request{}, fmt.Errorf("API key %d version %d is not served", key, version)
	}
	req.body = kmsg.RequestForKey(key)
	req.body.SetVersion(version)
	if err := req.body.ReadFrom(reader.Src); err != nil || !reader.Ok() {
		return request{}, errMalformed
	}
	return req, nil
}

// frame encodes the request anew, so that the broker sees only what was
// understood here.
func (r request) frame() []byte {
	var opts []kmsg.RequestFormatterOpt
	if r.client != nil {
		opts = append(opts, kmsg.FormatterClientID(*r.client))
	}
	return kmsg.NewRequestFormatter(opts...).AppendRequest(nil, r.body, r.correlation)
}

// responseFrame encodes the answer to r. Among the answers given here, none
// but that to ApiVersions has a flexible version, and its header never has tags.
func (r request) responseFrame(response kmsg.Response) []byte {
	frame := make([]byte, lengthSize, 256)
	frame = binary.BigEndian.AppendUint32(frame, uint32(r.correlation))
	frame = response.AppendTo(frame)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-lengthSize))
	return frame
}

// parseResponse reads the broker's frame into response.
func (r request) parseResponse(frame []byte, response kmsg.Response) error {
	if err := response.ReadFrom(frame[2*lengthSize:]); err != nil {
		return fmt.Errorf("answer of the broker: %w", err)
	}
	return nil
}

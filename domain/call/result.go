package call

import (
	"strconv"

	"hooklog/domain/fault"
)

// Result is the result JSON of the contract.
type Result struct {
	CorrelationID string
	TraceID       string
	Status        Status
	// Value is JSON as it is to be sent; empty is null.
	Value                  []byte
	PollingRedirectEnabled bool
}

// TraceInformation is the value of a call that no pipeline listens to. Trace
// ids need no escaping.
func TraceInformation(traceID string) []byte {
	return []byte(`{"status":"OK","traceId":"` + traceID + `"}`)
}

// Problem is the value of a failed call. What failed in detail is for those who
// may read the run.
func Problem(traceID string) []byte {
	return []byte(`{"type":"` + fault.ProblemType(fault.Internal) + `","title":"The call failed","status":500,"traceId":"` + traceID + `"}`)
}

// AppendJSON appends the result to b. Ids and status need no escaping and the
// value is JSON already: encoding it again would only change its bytes.
func (r Result) AppendJSON(b []byte) []byte {
	statusCode := 200
	if r.Status == Failed {
		statusCode = 500
	}
	b = append(b, `{"statusCode":`...)
	b = strconv.AppendInt(b, int64(statusCode), 10)
	b = append(b, `,"status":"`...)
	b = append(b, r.Status...)
	b = append(b, `","value":`...)
	if len(r.Value) == 0 {
		b = append(b, "null"...)
	} else {
		b = append(b, r.Value...)
	}
	b = append(b, `,"pollingRedirectEnabled":`...)
	b = strconv.AppendBool(b, r.PollingRedirectEnabled)
	b = append(b, `,"correlationId":"`...)
	b = append(b, r.CorrelationID...)
	b = append(b, `","traceId":"`...)
	b = append(b, r.TraceID...)
	return append(b, `"}`...)
}

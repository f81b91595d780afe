package pipelines_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"hooklog/transport/pipelines"
)

func ExampleProgram_Run() {
	program, err := pipelines.Compile([]byte(`
headers: {Tenant: north}
vars: {limit: 10}
pipeline:
  - event.listen: {eventKey: webhook.orders}
  - convert.fromBase64: {value: "${body.payload.origin}"}
  - convert.fromJson
  - webhook.put: {eventKey: "webhook.${headers.Tenant}"}
    id: make
    if: ${body.count > vars.limit}
    output: hook
    onError: {retry: {times: 3, wait: 5}}
body: ${vars.hook.eventKey}
`), service)
	if err != nil {
		fmt.Println(err)
		return
	}
	event, err := pipelines.Decode([]byte(`{"payload":{"origin":"eyJjb3VudCI6MTJ9"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	run := pipelines.Run{Body: event, User: "anonymousUser", Timeout: time.Minute, Log: slog.New(slog.DiscardHandler)}
	out, err := program.Run(context.Background(), run, &steps{})
	fmt.Println(program.EventKeys, string(out.Value), err)
	// Output: [webhook.orders] "webhook.north" <nil>
}

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	receivePath = "/api/v3/command/webhook.receive"
	commandPath = "/api/v3/command/"

	adminName     = "admin"
	adminPassword = "only-for-this-measurement" // of services that live for seconds
)

// body is 1 KiB of JSON.
var body = func() string {
	const begin, end = `{"order":4711,"currency":"EUR","items":[{"sku":"a-1","count":2},{"sku":"b-2","count":1}],"note":"`, `"}`
	return begin + strings.Repeat("x", 1024-len(begin)-len(end)) + end
}()

// receiveRequest is a webhook call as senders make them.
func receiveRequest(address, token string) []byte {
	return request(address, receivePath, "application/json", body, "Token: "+token)
}

// commandRequest runs a management command with parameters as key=value&….
func commandRequest(address, name, params string) []byte {
	pair := base64.StdEncoding.EncodeToString([]byte(adminName + ":" + adminPassword))
	return request(address, commandPath+name, "application/x-www-form-urlencoded", params, "Authorization: Basic "+pair)
}

func request(address, path, contentType, body string, headers ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: hooklog-bench/1\r\nAccept: */*\r\nContent-Type: %s\r\nContent-Length: %d\r\n",
		path, address, contentType, len(body))
	for _, header := range headers {
		b.WriteString(header + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

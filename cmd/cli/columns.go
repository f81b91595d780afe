package cli

import "hooklog/domain/catalog"

// columns are those of the tables of commands that answer lists, in the order in
// which people read them. Commands that are not here show all they have.
var columns = map[string][]string{
	catalog.WebhookList: webhookColumns,
	catalog.RunGet:      runColumns,
	catalog.RunRetry:    runColumns,
}

var (
	webhookColumns  = []string{"eventKey", "last6", "payloadType", "maxPayloadLength", "enabled", "updated", "updatedBy", "version"}
	runColumns      = []string{"received", "pipeline", "version", "attempt", "status", "eventKey", "traceId", "correlationId"}
	pipelineColumns = []string{"name", "version", "eventKeys", "messageKeys", "runAs", "updated", "updatedBy"}
)

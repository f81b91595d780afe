package cli

import "hooklog/domain/catalog"

// commandExamples are the examples of the catalog's commands. Tests run each of
// them, with $UUID the token of webhook.orders and $CORRELATION_ID a call of it.
var commandExamples = map[string]string{
	catalog.WebhookPut: `  hooklog command webhook.put eventKey=webhook.invoices payloadType=raw
  hooklog command webhook.put uuid=$UUID enabled:=true`,
	catalog.WebhookGet: `  hooklog command webhook.get uuid=$UUID`,
	catalog.WebhookList: `  hooklog command webhook.list
  hooklog command webhook.list limit=1 -o yaml`,
	catalog.WebhookDelete: `  hooklog command webhook.delete uuid=$UUID`,
	catalog.WebhookReceive: `  hooklog command webhook.receive token=$UUID --data '{"order":1}'
  hooklog command webhook.receive token=$UUID --data @order.json`,
	catalog.UserPut: `  hooklog command user.put username=bob roles=shop,reader password=@password.txt
  hooklog command user.put username=alice roles:='["shop"]'`,
	catalog.UserGet:      `  hooklog command user.get username=alice`,
	catalog.UserDelete:   `  hooklog command user.delete username=alice`,
	catalog.ClientPut:    `  hooklog command client.put id=billing newSecret=true`,
	catalog.ClientGet:    `  hooklog command client.get id=shop-app`,
	catalog.ClientDelete: `  hooklog command client.delete id=shop-app`,
	catalog.PolicyPut:    `  hooklog command policy.put name=readers roles=reader commands=webhook.list,run.get keys='*'`,
	catalog.PolicyGet:    `  hooklog command policy.get name=shop`,
	catalog.PolicyDelete: `  hooklog command policy.delete name=shop`,
	catalog.KeyRotate:    `  hooklog command key.rotate`,
	catalog.PipelinePut:  `  hooklog command pipeline.put name=billing body=@orders.yaml`,
	catalog.PipelineGet: `  hooklog command pipeline.get
  hooklog command pipeline.get name=orders -o yaml`,
	catalog.PipelineDelete: `  hooklog command pipeline.delete name=orders`,
	catalog.PipelineRun:    `  hooklog command pipeline.run name=greet body:='{"name":"Ada"}'`,
	catalog.RunGet:         `  hooklog command run.get pipeline=orders status=error limit=5`,
	catalog.TraceGet: `  hooklog command trace.get correlationId=$CORRELATION_ID
  hooklog command trace.get last6=${UUID: -6} limit=5 -o yaml`,
	catalog.EventGet:  `  hooklog command event.get correlationId=$CORRELATION_ID`,
	catalog.EventTail: `  hooklog command event.tail eventKey=webhook.orders cursor=start`,
	catalog.AuditGet: `  hooklog command audit.get webhook=webhook.orders limit=5
  hooklog command audit.get command=login -o yaml`,
	catalog.AuditExport:   `  hooklog command audit.export command=webhook.put > audit.jsonl`,
	catalog.CheckpointPut: `  hooklog command checkpoint.put`,
	catalog.CheckpointGet: `  hooklog command checkpoint.put > signed.json && hooklog command checkpoint.get`,
	catalog.RunRetry:      `  hooklog command run.retry correlationId=$CORRELATION_ID`,
}

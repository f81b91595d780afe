package actions

import (
	"hooklog/domain/catalog"
	"hooklog/transport/pipelines"
)

// The steps that are neither of the language nor commands of the service.
var (
	eventReceive = pipelines.Command{Name: "event.receive", Params: []pipelines.Param{
		{Name: "eventKey", Type: pipelines.Text, Required: true},
		{Name: "traceId", Type: pipelines.Text},
	}}
	eventSend = pipelines.Command{Name: "event.send", Params: []pipelines.Param{
		{Name: "eventKey", Type: pipelines.Text, Required: true},
		{Name: "payload"}, // the body, when it is not given
	}}
	messageSend = pipelines.Command{Name: "message.send", Params: []pipelines.Param{
		{Name: "key", Type: pipelines.Text, Required: true},
		{Name: "payload"}, // as for event.send
	}}
)

// types are those of parameters; a list is a text with commas, as over HTTP.
var types = map[catalog.Type]pipelines.Type{
	catalog.String:   pipelines.Text,
	catalog.Integer:  pipelines.Integer,
	catalog.Boolean:  pipelines.Boolean,
	catalog.Token:    pipelines.Text,
	catalog.Password: pipelines.Text,
	catalog.List:     pipelines.Text,
}

// Step implements pipelines.Catalog.
func (a *Actions) Step(name string) (pipelines.Command, bool) {
	for _, own := range []pipelines.Command{eventReceive, eventSend, messageSend} {
		if own.Name == name {
			return own, true
		}
	}
	if name == pipelines.HTTPRequest.Name {
		return pipelines.HTTPRequest, a.HTTP != nil
	}
	command, ok := catalog.Lookup(name)
	if !ok || !command.Step() {
		return pipelines.Command{}, false
	}
	step := pipelines.Command{Name: command.Name}
	for _, p := range command.Params {
		step.Params = append(step.Params, pipelines.Param{
			Name: p.Name, Alias: p.Alias, Type: types[p.Type], Required: p.Required, Enum: p.Enum,
		})
	}
	return step, true
}

package actions

import (
	"cmp"
	"context"
	"strconv"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/transport/commands"
	"hooklog/transport/pipelines"
)

// Steps carries out the steps of one run.
type Steps struct {
	*Actions
	origin Origin
	// trace is what the events and messages of the run follow.
	trace Trigger
	// issued holds the id of the last command of each step, by its path.
	issued map[string]string
}

var _ pipelines.Steps = (*Steps)(nil)

// Steps gives the steps of a run.
func (a *Actions) Steps(o Origin) *Steps {
	s := &Steps{Actions: a, origin: o, issued: map[string]string{}}
	if o.Trigger != nil {
		s.trace = *o.Trigger
	} else {
		s.trace = newTrace(o.Call)
	}
	return s
}

// traceKey is where a pipeline that another one runs finds what that one follows:
// otherwise the chain of their events would begin anew, and never end.
type traceKey struct{}

// CommandID is the id of the command that a step issued last, or empty.
func (s *Steps) CommandID(path string) string { return s.issued[path] }

// Allow implements pipelines.Steps. Whether a command of the service is allowed
// is decided, and recorded, by folding it.
func (s *Steps) Allow(_ context.Context, user, command string) error {
	if _, ok := catalog.Lookup(command); ok {
		return nil
	}
	subject, err := s.subject(user)
	if err != nil {
		return err
	}
	if command != pipelines.EventListen && command != pipelines.MessageReceive || s.origin.Trigger == nil {
		return s.Registry.Policy().Allow(subject, command, "")
	}
	return s.allowBoth(subject, command, s.origin.Trigger.EventKey)
}

// allowBoth asks for the right of the user and of the owner to the key.
func (s *Steps) allowBoth(user access.Subject, command, key string) error {
	owner, err := s.owner()
	if err != nil {
		return err
	}
	policy := s.Registry.Policy()
	if err := policy.Allow(user, command, key); err != nil {
		return err
	}
	return policy.Allow(owner, command, key)
}

// Do implements pipelines.Steps. A command that is on its way to the log is waited
// for, even when ctx is done: at most for as long as the dispatcher gives it.
func (s *Steps) Do(ctx context.Context, c pipelines.StepCall) (any, error) {
	subject, err := s.subject(c.User)
	if err != nil {
		return nil, err
	}
	switch c.Command {
	case pipelines.RunAs:
		return nil, s.runAs(c.Params["user"].(string))
	case eventReceive.Name:
		return s.receiveEvent(ctx, subject, c)
	case eventSend.Name:
		return s.sendEvent(ctx, subject, c)
	case messageSend.Name:
		return s.sendMessage(ctx, subject, c)
	case pipelines.HTTPRequest.Name:
		return s.request(ctx, c)
	}
	return s.command(ctx, subject, c)
}

// subject is a user with the roles that it has now.
func (s *Steps) subject(user string) (access.Subject, error) {
	if s.origin.Trigger == nil && user == s.caller() {
		return access.Subject{Principal: user, Roles: s.origin.Caller.Roles}, nil
	}
	found, ok, err := s.Registry.User(user)
	if err != nil {
		return access.Subject{}, err
	}
	if !ok {
		return access.Subject{}, fault.New(fault.Forbidden, "There is no user %s.", user)
	}
	return access.Subject{Principal: found.Name, Roles: found.Roles}, nil
}

func (s *Steps) caller() string { return cmp.Or(s.origin.Caller.Effective, s.origin.Caller.Principal) }

// owner is whose rights the pipeline borrows. Of an outside issuer's users nothing
// later is known than the roles with which they put it. A local user that was created after the
// pipeline was put only has its owner's name.
func (s *Steps) owner() (access.Subject, error) {
	name := s.origin.Owner
	switch {
	case name == "":
		return s.subject(s.caller())
	case access.IsOutside(name):
		return access.Subject{Principal: name, Roles: s.origin.OwnerRoles}, nil
	}
	found, ok, err := s.Registry.User(name)
	if err != nil {
		return access.Subject{}, err
	}
	if !ok || found.Created.After(s.origin.Put) {
		return access.Subject{}, fault.New(fault.Forbidden, "The owner of the pipeline does not exist any more.")
	}
	return access.Subject{Principal: found.Name, Roles: found.Roles}, nil
}

// runAs answers whether the owner may have its pipelines run as the user.
func (s *Steps) runAs(user string) error {
	owner, err := s.owner()
	if err != nil {
		return err
	}
	if !s.Registry.Policy().MayRunAs(owner, user) {
		return fault.New(fault.Forbidden, "%s, who owns the pipeline, may not run it as %s.", owner.Principal, user)
	}
	_, ok, err := s.Registry.User(user)
	if err == nil && !ok {
		err = fault.New(fault.Forbidden, "There is no user %s.", user)
	}
	return err
}

// issue gives the id of the command that the step issues.
func (s *Steps) issue(c pipelines.StepCall) string {
	o := s.origin
	id := pipeline.Step{
		Call: o.Call, Pipeline: o.Pipeline, Version: o.Version, Path: c.Path, Attempt: o.Attempt, Try: c.Try,
	}.CommandID()
	s.issued[c.Path] = id
	return id
}

// command runs a command of the service, as over HTTP.
func (s *Steps) command(ctx context.Context, subject access.Subject, c pipelines.StepCall) (any, error) {
	command, ok := catalog.Lookup(c.Command)
	if !ok || !command.Step() {
		return nil, fault.New(fault.NotFound, "There is no step %q.", c.Command)
	}
	given := make([]catalog.Given, 0, len(c.Params))
	for name, v := range c.Params {
		given = append(given, catalog.Given{Name: name, Value: textOf(v), Source: catalog.Body})
	}
	args, err := command.Bind(given)
	if err != nil {
		return nil, err
	}
	caller := s.origin.Caller
	caller.Effective, caller.Roles = subject.Principal, subject.Roles
	caller.Owner, caller.Via, caller.Call = cmp.Or(s.origin.Owner, s.caller()), s.origin.via(), s.origin.Call
	ctx = context.WithValue(ctx, traceKey{}, s.trace)
	return s.Commands.Run(ctx, commands.Request{Caller: caller, Command: command, Args: args, CommandID: s.issue(c), Span: c.Span})
}

// textOf is a parameter as texts carry it; the catalog of steps has no others.
func textOf(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	}
	text, _ := v.(string)
	return text
}

func (s *Steps) request(ctx context.Context, c pipelines.StepCall) (any, error) {
	if s.HTTP == nil {
		return nil, fault.New(fault.Forbidden, "http.request is switched off: the operator allows no hosts.")
	}
	return pipelines.DoHTTPRequest(ctx, s.HTTP, c)
}

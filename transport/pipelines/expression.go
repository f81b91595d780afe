package pipelines

import (
	"context"
	"errors"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// expression is the inside of one ${…}.
type expression struct {
	source  string
	at      place
	program cel.Program
	kind    *cel.Type
	// picks says that it only names a part of what is there, and makes nothing.
	picks bool
}

// compileExpression gives the expression, or what is wrong with it and where:
// offset counts characters of the source.
func compileExpression(source string) (e *expression, offset int, err error) {
	if len(source) > maxExpression {
		return nil, 0, wrong("the expression has %d bytes; at most %d are allowed", len(source), maxExpression)
	}
	parsed, issues := environment().Parse(source)
	if issues.Err() != nil {
		return refused(source, issues)
	}
	tree := parsed.NativeRep().Expr()
	switch {
	case nesting(ast.NavigateExpr(parsed.NativeRep(), tree)) > maxLiteralDepth:
		return nil, 0, wrong("lists, maps and loops of the expression are nested deeper than %d levels", maxLiteralDepth)
	case makesMessages(tree): // CEL copies them without counting
		return nil, 0, wrong("the expression makes a message; only texts, numbers, lists and maps can be made")
	}
	checked, issues := environment().Check(parsed)
	if issues.Err() != nil {
		return refused(source, issues)
	}
	program, err := environment().Program(checked,
		cel.CustomDecoratorV2(guard),
		cel.CostTracking(costs{}),
		cel.CostLimit(maxCost),
		cel.InterruptCheckFrequency(100),
	)
	if err != nil {
		return nil, 0, wrong("the expression is wrong: %s", shown(err.Error()))
	}
	return &expression{source: source, program: program, kind: checked.OutputType(), picks: picks(checked.NativeRep().Expr())}, 0, nil
}

func refused(source string, issues *cel.Issues) (*expression, int, error) {
	first := issues.Errors()[0]
	offset := offsetOf(source, first.Location.Line(), first.Location.Column())
	// What the parser would have taken instead is a page long.
	message, _, _ := strings.Cut(first.Message, " expecting ")
	message = strings.TrimSuffix(message, " (in container '')")
	return nil, offset, wrong("the expression is wrong: %s", shown(message))
}

// picks reports whether an expression is a path such as body.items[0].name.
func picks(e ast.Expr) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return true
	case ast.SelectKind:
		return !e.AsSelect().IsTestOnly() && picks(e.AsSelect().Operand())
	case ast.CallKind:
		call := e.AsCall()
		return call.FunctionName() == "_[_]" && call.Args()[1].Kind() == ast.LiteralKind && picks(call.Args()[0])
	}
	return false
}

func makesMessages(tree ast.Expr) (found bool) {
	ast.PostOrderVisit(tree, ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.StructKind
	}))
	return found
}

// nesting is how deep lists, maps and loops stand in each other. The time that
// CEL takes to find their types grows with the fourth power of it.
func nesting(e ast.NavigableExpr) int {
	deepest := 0
	for _, child := range e.Children() {
		deepest = max(deepest, nesting(child))
	}
	switch e.Kind() {
	case ast.ListKind, ast.MapKind, ast.ComprehensionKind:
		deepest++
	}
	return deepest
}

// scope is what expressions see.
type scope struct {
	headers map[string]string
	vars    map[string]any
	body    any
}

// eval gives the value of the expression, counted by the meter.
func (e *expression) eval(ctx context.Context, s scope, m *meter) (any, error) {
	val, _, err := e.program.ContextEval(ctx, map[string]any{"headers": s.headers, "vars": s.vars, "body": s.body})
	if err != nil {
		return nil, e.explain(ctx, err)
	}
	limit := MaxValue
	if e.picks {
		limit = MaxState
	}
	own := meter{left: limit}
	v, err := native(val, &own)
	if err == nil {
		err = m.take(limit - own.left)
	}
	if err != nil {
		return nil, wrong("%s: the value of the expression %v", e.at, err)
	}
	return v, nil
}

// explain tells what went wrong without showing what was computed with: CEL's
// own words may repeat a value.
func (e *expression) explain(ctx context.Context, err error) error {
	var converted convertError
	var cancelled interpreter.EvalCancelledError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &converted):
		return wrong("%s: what the expression converts %v", e.at, converted.error)
	case errors.As(err, &cancelled):
		return wrong("%s: the expression takes too much work", e.at)
	}
	var failed *types.Err
	text := err.Error()
	if errors.As(err, &failed) {
		text = failed.Error()
	}
	for _, known := range []string{"division by zero", "modulus by zero", "integer overflow", "out of range", "no such overload"} {
		if strings.Contains(text, known) {
			return wrong("%s: the expression fails: %s", e.at, known)
		}
	}
	// A key that stands in the expression was written by its author.
	if _, key, ok := strings.Cut(text, "no such key: "); ok {
		if key != "" && strings.Contains(e.source, key) {
			return wrong("%s: the expression fails: there is no %s", e.at, shown(key))
		}
		return wrong("%s: the expression fails: there is no such key", e.at)
	}
	return wrong("%s: the expression fails", e.at)
}

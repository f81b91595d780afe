package pipelines

import (
	"context"
	"strings"
)

// template is a value of a source, with the expressions in it. What an
// expression gives is never looked through for further ones.
type template interface {
	eval(ctx context.Context, s scope, m *meter) (any, error)
}

type (
	// literal has no expression in it.
	literal struct{ value any }
	// words are a text with expressions among it; the result is a text.
	words []template
	list  []template
	// object keeps the order of the source, so that a fault is always the same.
	object []member
	member struct {
		key   string
		value template
	}
)

func (l literal) eval(_ context.Context, _ scope, m *meter) (any, error) {
	if err := m.add(l.value); err != nil {
		return nil, wrong("what is given %v", err)
	}
	return l.value, nil
}

func (w words) eval(ctx context.Context, s scope, m *meter) (any, error) {
	var b strings.Builder
	for _, t := range w {
		v, err := t.eval(ctx, s, m)
		if err != nil {
			return nil, err
		}
		piece, err := text(v)
		if err != nil {
			return nil, err
		}
		if b.Len()+len(piece) > MaxValue {
			return nil, wrong("the text %v", errTooLarge)
		}
		b.WriteString(piece)
	}
	return b.String(), nil
}

func (l list) eval(ctx context.Context, s scope, m *meter) (any, error) {
	made := make([]any, 0, len(l))
	for _, t := range l {
		v, err := t.eval(ctx, s, m)
		if err != nil {
			return nil, err
		}
		made = append(made, v)
	}
	return made, nil
}

func (o object) eval(ctx context.Context, s scope, m *meter) (any, error) {
	made := make(map[string]any, len(o))
	for _, member := range o {
		v, err := member.value.eval(ctx, s, m)
		if err != nil {
			return nil, err
		}
		made[member.key] = v
	}
	return made, nil
}

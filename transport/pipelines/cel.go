package pipelines

import (
	"encoding/json"
	"math"
	"strconv"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// environment is what every expression sees. It is made once: that takes longer
// than most pipelines run.
var environment = sync.OnceValue(func() *cel.Env {
	options := []cel.EnvOption{
		cel.CustomTypeAdapter(adapter{}),
		cel.Variable("headers", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("vars", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("body", cel.DynType),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ParserRecursionLimit(maxDepth),
		cel.ParserErrorRecoveryLimit(3),
		cel.ExpressionNodeLimit(maxExpression),
		cel.ASTValidators(cel.ValidateRegexLiterals()),
	}
	for name, convert := range conversions {
		options = append(options, cel.Function(name,
			cel.Overload(name, []*cel.Type{cel.DynType}, cel.DynType, cel.UnaryBinding(converted(convert)))))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		panic("the environment of the expressions: " + err.Error())
	}
	return env
})

// converted makes a function of the expressions from a conversion. Neither what
// goes in nor what comes out is larger than an expression may make.
func converted(convert func(any) (any, error)) func(ref.Val) ref.Val {
	return func(val ref.Val) ref.Val {
		if types.IsUnknownOrError(val) {
			return val
		}
		v, err := native(val, &meter{left: MaxValue})
		if err == nil {
			v, err = convert(v)
		}
		if err != nil {
			return types.WrapErr(convertError{err})
		}
		return adapter{}.NativeToValue(v)
	}
}

// convertError is told apart from the errors of CEL: it shows no value.
type convertError struct{ error }

// adapter shows the values of a run to CEL. Lists and maps are marked, so that
// they come back as they were, every number as it was written.
type adapter struct{}

type (
	ownList struct {
		traits.Lister
		own []any
	}
	ownMap struct {
		traits.Mapper
		own map[string]any
	}
)

// NativeToValue implements types.Adapter.
func (a adapter) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case []any:
		return ownList{types.NewDynamicList(a, v), v}
	case map[string]any:
		return ownMap{types.NewStringInterfaceMap(a, v), v}
	case json.Number:
		return number(string(v))
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

func number(s string) ref.Val {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return types.Int(i)
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return types.Uint(u)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return types.WrapErr(convertError{errTooLarge})
	}
	return types.Double(f)
}

// native gives what CEL made as a value of a run.
func native(val ref.Val, m *meter) (any, error) { return nativeAt(val, m, 0) }

func nativeAt(val ref.Val, m *meter, depth int) (any, error) {
	if depth > maxNesting {
		return nil, errTooDeep
	}
	var v any
	switch val := val.(type) {
	case types.Null:
	case types.Bool:
		v = bool(val)
	case types.Int:
		v = int64(val)
	case types.Uint:
		v = uint64(val)
	case types.Double:
		v = float64(val)
	case types.String:
		v = string(val)
	case types.Bytes:
		v = []byte(val)
	case types.Timestamp, types.Duration:
		v = val.(interface{ ConvertToType(ref.Type) ref.Val }).ConvertToType(types.StringType).Value()
	case ownList:
		v = val.own
	case ownMap:
		v = val.own
	case traits.Mapper:
		return nativeMap(val, m, depth)
	case traits.Lister:
		return nativeList(val, m, depth)
	default:
		return nil, errNoJSON
	}
	return v, m.addAt(v, depth)
}

func nativeList(list traits.Lister, m *meter, depth int) (any, error) {
	size := int(list.Size().(types.Int))
	if err := m.take(1 + max(1, size)); err != nil {
		return nil, err
	}
	made := make([]any, 0, min(size, math.MaxInt16))
	for i := range size {
		v, err := nativeAt(list.Get(types.Int(i)), m, depth+1)
		if err != nil {
			return nil, err
		}
		made = append(made, v)
	}
	return made, nil
}

func nativeMap(object traits.Mapper, m *meter, depth int) (any, error) {
	if err := m.take(2); err != nil {
		return nil, err
	}
	made := map[string]any{}
	for it := object.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, errNoJSON
		}
		if err := m.take(len(name) + 3); err != nil {
			return nil, err
		}
		v, err := nativeAt(object.Get(key), m, depth+1)
		if err != nil {
			return nil, err
		}
		made[string(name)] = v
	}
	return made, nil
}

package pipelines

import (
	"regexp/syntax"

	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// CEL counts the cost of a call when it is done, takes a list for as large as its
// own length, and knows no cost of calls on values whose type it learns only when
// it runs, as all of ours are. A list of a list of a list that share their parts
// is small and takes for ever to compare. So every call has its price here, with
// all that is inside of its arguments where it looks there, and those calls that
// may take long for their price are asked for it before they are done.

// guarded are those calls.
var guarded = map[string]func(left, right ref.Val) ref.Val{
	operators.Equals:    types.Equal,
	operators.NotEquals: func(left, right ref.Val) ref.Val { return types.Bool(types.Equal(left, right) != types.True) },
	operators.In: func(left, right ref.Val) ref.Val {
		if container, ok := right.(traits.Container); ok {
			return container.Contains(left)
		}
		return types.MaybeNoSuchOverloadErr(right)
	},
	overloads.Matches: func(left, right ref.Val) ref.Val {
		if matcher, ok := left.(traits.Matcher); ok {
			return matcher.Match(right)
		}
		return types.MaybeNoSuchOverloadErr(left)
	},
}

// guard replaces a call by a guarded one.
func guard(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	if do, ok := guarded[call.Function()]; ok {
		args := call.Args()
		return &guardedCall{InterpretableCall: call, left: args[0], right: args[1], do: do}, nil
	}
	return i, nil
}

type guardedCall struct {
	interpreter.InterpretableCall
	left, right interpreter.InterpretableV2
	do          func(left, right ref.Val) ref.Val
}

// Eval implements the older half of the interface.
func (c *guardedCall) Eval(vars interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(vars))
}

// Exec does the call, unless it costs more than an expression may.
func (c *guardedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	left := c.left.Exec(frame)
	if types.IsUnknownOrError(left) {
		return left
	}
	right := c.right.Exec(frame)
	if types.IsUnknownOrError(right) {
		return right
	}
	if price(c.Function(), left, right) > maxCost {
		// Nobody sees this: the price, which is counted next, ends the evaluation.
		return types.NewErr("too large")
	}
	return c.do(left, right)
}

// costs tells CEL the prices.
type costs struct{}

// CallCost implements interpreter.ActualCostEstimator.
func (costs) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	return new(uint64(price(function, args...)))
}

// price is 1 and more for each value that is looked at and for some bytes of a text.
func price(function string, args ...ref.Val) int {
	_, conversion := conversions[function]
	switch {
	case conversion, function == operators.Equals, function == operators.NotEquals, function == operators.In:
		return weight(args...)
	case function == overloads.Matches:
		return matchPrice(args[0], args[1])
	}
	sum := 1
	for _, arg := range args {
		switch arg := arg.(type) {
		case types.String:
			sum += len(arg) / costedText
		case types.Bytes:
			sum += len(arg) / costedText
		case traits.Lister:
			// Lists that are put together are not copied, but the next to read them
			// reads all of them.
			if function == operators.Add {
				sum += int(arg.Size().(types.Int))
			}
		}
	}
	return sum
}

// maxPattern is the longest regular expression that is tried, in bytes.
const maxPattern = 1000

// matchPrice is for a text that goes through each instruction of a regular
// expression at each of its bytes.
func matchPrice(text, pattern ref.Val) int {
	t, isText := text.(types.String)
	p, isPattern := pattern.(types.String)
	if !isText || !isPattern {
		return 1
	}
	if len(p) > maxPattern {
		return maxCost + 1
	}
	parsed, err := syntax.Parse(string(p), syntax.Perl)
	if err != nil {
		return 1
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 1
	}
	return 1 + len(program.Inst) + len(t)*len(program.Inst)/(5*costedText)
}

// weight is 1 for each value, with all that are inside, and for some bytes of
// a text, and no more than is needed to know that it is over the limit.
func weight(vals ...ref.Val) int {
	w := weigher{left: maxCost}
	for _, v := range vals {
		w.add(v, 0)
	}
	return maxCost - w.left
}

type weigher struct{ left int }

func (w *weigher) add(val ref.Val, depth int) {
	w.left--
	if w.left < 0 {
		return
	}
	if depth > maxNesting {
		w.left = -1
		return
	}
	switch val := val.(type) {
	case types.String:
		w.left -= len(val) / costedText
	case types.Bytes:
		w.left -= len(val) / costedText
	case traits.Mapper:
		for it := val.Iterator(); w.left >= 0 && it.HasNext() == types.True; {
			key := it.Next()
			w.add(key, depth+1)
			w.add(val.Get(key), depth+1)
		}
	case traits.Lister:
		for it := val.Iterator(); w.left >= 0 && it.HasNext() == types.True; {
			w.add(it.Next(), depth+1)
		}
	}
}

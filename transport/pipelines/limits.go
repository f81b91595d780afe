package pipelines

import "time"

// What a pipeline may take. Sizes are bytes.
const (
	// MaxSource is the longest source.
	MaxSource = 256 << 10
	// MaxSteps is the highest number of steps.
	MaxSteps = 500
	// MaxValue is the largest final value, and the largest that one expression may
	// make. An expression that only picks a part of what is there may pick more.
	MaxValue = 1 << 20
	// MaxState is the largest sum of headers, vars and body, and of the parameters
	// of one step. The largest event fits.
	MaxState = 8 << 20

	// maxDepth bounds how deep a source is nested, maxNesting how deep a value is.
	maxDepth   = 32
	maxNesting = 1000
	// maxExpressions and maxLiteralDepth bound how long it takes to compile a
	// source: the number of expressions, and how deep lists, maps and loops (map,
	// filter, all, exists) stand in each other in one.
	maxExpressions  = 1000
	maxLiteralDepth = 8
	// maxExpression is the longest expression.
	maxExpression = 4096
	// maxCost bounds the work of one expression: about one for each value that is
	// touched, and one for so many bytes of a text.
	maxCost    = 500_000
	costedText = 20
	// maxFaults is how many faults of a source are told at once.
	maxFaults = 20

	maxRetries   = 10
	maxRetryWait = time.Minute
	// maxMessage is how much of a logged message, or of an error, is written down.
	maxMessage = 1 << 10
)

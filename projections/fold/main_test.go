package fold_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Every fold, tail and look must have ended with the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

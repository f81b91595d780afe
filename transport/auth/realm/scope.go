package realm

import (
	"slices"
	"strings"
)

// knownScopes is what may be asked for. A scope says what a client is
// interested in; what a user may do is decided by the policy alone.
var knownScopes = []string{"openid", "profile", "roles", "offline_access"}

// defaultScope is what a log-in gets that asks for nothing.
const defaultScope = "profile roles"

// parseScope gives the scopes once each, in the order they were asked for.
func parseScope(text string) (string, error) {
	var scopes []string
	for _, scope := range strings.Fields(text) {
		if !slices.Contains(knownScopes, scope) {
			return "", badScope("The known scopes are " + strings.Join(knownScopes, " ") + ".")
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return strings.Join(scopes, " "), nil
}

// within reports that all of the scopes are among the allowed ones.
func within(scopes, allowed string) bool {
	all := strings.Fields(allowed)
	return !slices.ContainsFunc(strings.Fields(scopes), func(scope string) bool { return !slices.Contains(all, scope) })
}

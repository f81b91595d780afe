package httpapi

// PublicRoutes gives the methods of each path that callers reach. A path
// without methods only ever refuses.
func (a *API) PublicRoutes() map[string][]string {
	methods := map[string][]string{}
	for _, rt := range a.publicRoutes() {
		methods[rt.path] = rt.methods
	}
	return methods
}

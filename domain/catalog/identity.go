package catalog

// identityCommands keep who may do what.
var identityCommands = []Command{
	{
		Name: UserPut, Kind: Change,
		Help: "Creates a user, or changes the one of that name: what is not given stays. Whatever the user was issued before a change is void.",
		Params: []Param{
			{Name: "username", Type: String, Required: true, Help: "Name of the user: letters, digits and . _ @ + -."},
			{Name: "password", Type: Password, Help: "At least 8 characters and at most 1024 bytes. Required to create."},
			{Name: "roles", Type: List, Help: "Roles of the user, separated by commas; administrator may do everything."},
		},
	},
	{
		Name: UserGet, Kind: RegistryRead,
		Help:   "Returns all users, or with username that one.",
		Params: []Param{{Name: "username", Type: String, Help: "Name of the user to return."}},
	},
	{
		Name: UserDelete, Kind: Change,
		Help:   "Deletes the user of that name.",
		Params: []Param{{Name: "username", Type: String, Required: true, Help: "Name of the user to delete; admin and anonymousUser stay."}},
	},
	{
		Name: ClientPut, Kind: Change,
		Help: "Creates an OAuth client, or changes the one with that id. A new secret is in the answer, once and nowhere else.",
		Params: []Param{
			{Name: "id", Type: String, Required: true, Help: "Id of the client: letters, digits and . _ @ + -."},
			{Name: "public", Type: Boolean, Help: "true for a client without a secret; default false."},
			{Name: "newSecret", Type: Boolean, Help: "true replaces the secret by a new one; default false."},
		},
	},
	{
		Name: ClientGet, Kind: RegistryRead,
		Help:   "Returns all OAuth clients without their secrets, or with id that one.",
		Params: []Param{{Name: "id", Type: String, Help: "Id of the client to return."}},
	},
	{
		Name: ClientDelete, Kind: Change,
		Help:   "Deletes the OAuth client with that id.",
		Params: []Param{{Name: "id", Type: String, Required: true, Help: "Id of the client to delete; hooklog stays."}},
	},
	{
		Name: PolicyPut, Kind: Change,
		Help: "Puts a rule that allows something, in place of the one of that name. Nothing is allowed but what a rule says, except to administrators.",
		Params: []Param{
			{Name: "name", Type: String, Required: true, Help: "Name of the rule: letters, digits and . _ @ + -."},
			{Name: "users", Type: List, Help: "Who is allowed, separated by commas: user names, or namespace:sub for users of an outside issuer."},
			{Name: "roles", Type: List, Help: "Roles whose users are allowed, separated by commas."},
			{Name: "commands", Type: List, Help: "What is allowed, separated by commas: trace.get is that command, webhook.* every command below webhook, * every command, this one too."},
			{Name: "keys", Type: List, Help: "On which event keys and pipeline names, separated by commas: webhook.orders is that key, webhook.orders.* every key below it, * every key. Without keys, only what concerns no key is allowed; such commands are allowed whatever the keys are."},
			{Name: "runAs", Type: List, Help: "Users that pipelines of those allowed may run as, separated by commas; * is every user."},
		},
	},
	{
		Name: PolicyGet, Kind: RegistryRead,
		Help:   "Returns all rules, or with name that one.",
		Params: []Param{{Name: "name", Type: String, Help: "Name of the rule to return."}},
	},
	{
		Name: PolicyDelete, Kind: Change,
		Help:   "Deletes the rule of that name.",
		Params: []Param{{Name: "name", Type: String, Required: true, Help: "Name of the rule to delete."}},
	},
	{
		Name: KeyRotate, Kind: Change,
		Help: "Makes a new key that signs access tokens from now on; those signed before stay valid.",
	},
}

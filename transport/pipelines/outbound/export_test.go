package outbound

// Public is tested on its own: nobody can be called at most of the addresses.
var Public = public

package settings

import "path/filepath"

// AdminPasswordFile is where a made password of the administrator lies.
func (c Config) AdminPasswordFile() string { return filepath.Join(c.KeysDir(), "admin-password") }

// AddressFile tells clients on this machine where the service of the data folder
// is, while it runs.
func (c Config) AddressFile() string { return filepath.Join(c.DataDir, "address") }

package e2e_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the path before every import of this project.
const module = "hooklog/"

var (
	// houses are the top-level folders, each with those that it may import.
	houses = map[string][]string{
		"cmd":         {"cmd", "transport", "projections", "domain"},
		"transport":   {"transport", "domain"},
		"projections": {"projections", "domain"},
		"domain":      {"domain"},
	}
	optionalFolder = "deploy"

	// sharedRooms are the rooms of transport that its other rooms may import.
	sharedRooms = []string{"commands", "auth", "keyring", "telemetry"}

	// impure are the packages that bring a clock, chance, cancellation or I/O;
	// a path that ends in a slash means all below it.
	impure = []string{
		"C", "context", "crypto/rand", "database/", "io/fs", "io/ioutil", "log", "math/rand", "math/rand/v2",
		"net", "net/", "os", "os/", "path/filepath", "plugin", "syscall",
	}
	pureAfterAll = []string{"net/netip", "net/url"}

	// impureNames do the same inside packages that are pure otherwise.
	impureNames = map[string][]string{
		"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
		"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"github.com/google/uuid": {
			"New", "NewString", "NewRandom", "NewRandomFromReader", "NewUUID", "NewV6", "NewV7", "NewV7FromReader",
			"NewDCESecurity", "NewDCEPerson", "NewDCEGroup",
		},
	}
	onlyLibrary = "github.com/google/uuid"
)

// checkRules reads the Go files below root and reports every broken rule as
// "file: what is wrong", with the number of files it read.
func checkRules(root string) (broken []string, files int, err error) {
	broken, err = checkFolders(root)
	if err != nil {
		return nil, 0, err
	}
	for house := range houses {
		walk := func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || path.Ext(name) != ".go":
				return nil
			}
			files++
			found, err := checkFile(root, name)
			broken = append(broken, found...)
			return err
		}
		if err := fs.WalkDir(os.DirFS(root), house, walk); err != nil && !os.IsNotExist(err) {
			return nil, 0, err
		}
	}
	slices.Sort(broken)
	return broken, files, nil
}

// checkFolders holds the top level to its few folders; those that begin with
// a dot and those that git ignores do not count.
func checkFolders(root string) (broken []string, err error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	missing := map[string]bool{}
	for house := range houses {
		missing[house] = true
	}
	for _, entry := range entries {
		name := entry.Name()
		_, known := houses[name]
		switch {
		case !entry.IsDir() || strings.HasPrefix(name, "."):
		case known:
			delete(missing, name)
		case name != optionalFolder && !slices.Contains(strings.Fields(string(ignored)), "/"+name+"/"):
			broken = append(broken, name+": is no folder of the top level")
		}
	}
	for house := range missing {
		broken = append(broken, house+": is missing at the top level")
	}
	return broken, nil
}

// checkFile checks one file; name is its path below root, with slashes.
func checkFile(root, name string) (broken []string, err error) {
	house, room := place(path.Dir(name))
	pure := house == "domain" && !strings.HasSuffix(name, "_test.go")
	mode := parser.ImportsOnly
	if pure {
		mode = parser.SkipObjectResolution
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, mode)
	if err != nil {
		return nil, err
	}
	report := func(format string, args ...any) {
		broken = append(broken, name+": "+fmt.Sprintf(format, args...))
	}

	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if inside, ours := strings.CutPrefix(imported, module); ours {
			if reason := checkOwn(house, room, inside); reason != "" {
				report("imports %s: %s", imported, reason)
			}
		} else if pure {
			if reason := checkForeign(imported, spec.Name); reason != "" {
				report("imports %s: %s", imported, reason)
			}
		}
	}
	if pure {
		for _, use := range impureUses(file) {
			report("uses %s: domain has no clock, no chance and no I/O", use)
		}
	}
	return broken, nil
}

// place splits a folder into the house and its room: transport/kafka/embedded
// is in the room kafka of transport.
func place(folder string) (house, room string) {
	house, rest, _ := strings.Cut(folder, "/")
	room, _, _ = strings.Cut(rest, "/")
	return house, room
}

// checkOwn holds an import inside the project to its direction.
func checkOwn(house, room, imported string) string {
	toHouse, toRoom := place(imported)
	switch {
	case !slices.Contains(houses[house], toHouse):
		return house + " never imports " + toHouse
	case toHouse != "transport" || house == "cmd" || room == toRoom:
		return ""
	case toRoom == "kafka":
		return "only cmd imports transport/kafka"
	case !slices.Contains(sharedRooms, toRoom):
		return "rooms of transport share only " + strings.Join(sharedRooms, ", ")
	}
	return ""
}

// checkForeign holds an import of domain from outside the project to what is
// pure. A name for everything (.) would hide its uses.
func checkForeign(imported string, as *ast.Ident) string {
	first, _, _ := strings.Cut(imported, "/")
	matches := func(rule string) bool {
		return imported == rule || (strings.HasSuffix(rule, "/") && strings.HasPrefix(imported, rule))
	}
	switch {
	case as != nil && as.Name == ".":
		return "domain imports nothing as a dot"
	case strings.Contains(first, ".") && imported != onlyLibrary:
		return "domain knows the standard library and " + onlyLibrary + " only"
	case slices.ContainsFunc(impure, matches) && !slices.Contains(pureAfterAll, imported):
		return "domain has no clock, no context, no chance and no I/O"
	}
	return ""
}

// impureUses finds the impure names, also under another name of the package
// and where they are passed on without a call.
func impureUses(file *ast.File) (uses []string) {
	packages := map[string]string{} // local name → path
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		packages[local] = imported
	}
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if local, ok := selector.X.(*ast.Ident); ok {
			imported := packages[local.Name]
			if slices.Contains(impureNames[imported], selector.Sel.Name) {
				uses = append(uses, path.Base(imported)+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return uses
}

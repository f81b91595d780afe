package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parse reads JSON into nodes, which keep the order of members and the digits of
// numbers. YAML is written from them, and tables are made of them.
func parse(answer json.RawMessage) (*yaml.Node, error) {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("the answer is no JSON: %w", err)
	}
	switch v := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.MappingNode}
		if v == '[' {
			n.Kind = yaml.SequenceNode
		}
		return n, parseMembers(d, n)
	case string:
		return scalar("!!str", v), nil
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return scalar("!!float", v.String()), nil
		}
		return scalar("!!int", v.String()), nil
	case bool:
		return scalar("!!bool", fmt.Sprint(v)), nil
	default:
		return scalar("!!null", "null"), nil
	}
}

// parseMembers reads the values of an array, or the names and values of an
// object one after the other, and the delimiter behind them.
func parseMembers(d *json.Decoder, into *yaml.Node) error {
	for d.More() {
		member, err := parseValue(d)
		if err != nil {
			return err
		}
		into.Content = append(into.Content, member)
	}
	_, err := d.Token()
	return err
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// member finds a member of an object; nil when there is none.
func member(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

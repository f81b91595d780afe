package registry

import "hooklog/domain/access"

func decidePolicyPut(v View, c Command) (Event, Outcome, error) {
	var rule access.Rule
	if err := params(c, &rule); err != nil {
		return nil, Outcome{}, err
	}
	policy, put, err := v.Policy().Put(rule, c.author())
	if err != nil {
		return nil, Outcome{}, err
	}
	return PolicyChanged{Policy: policy, Rule: put.Name}, Outcome{Rule: &put}, nil
}

func decidePolicyGet(v View, c Command) (Event, Outcome, error) {
	if len(c.Params) == 0 {
		return nil, Outcome{}, nil
	}
	name, err := nameOf(c)
	if err != nil {
		return nil, Outcome{}, err
	}
	rule, ok := v.Policy().Rule(name)
	if !ok {
		return nil, Outcome{}, access.ErrNoRule(name)
	}
	return nil, Outcome{Rule: &rule}, nil
}

func decidePolicyDelete(v View, c Command) (Event, Outcome, error) {
	name, err := nameOf(c)
	if err != nil {
		return nil, Outcome{}, err
	}
	policy, rule, err := v.Policy().Without(name)
	if err != nil {
		return nil, Outcome{}, err
	}
	return PolicyChanged{Policy: policy, Rule: name}, Outcome{Rule: &rule}, nil
}

func decideKeyRotate(v View, c Command) (Event, Outcome, error) {
	var key access.SigningKey
	if err := params(c, &key); err != nil {
		return nil, Outcome{}, err
	}
	keys, err := v.SigningKeys().Rotate(key, c.Time)
	if err != nil {
		return nil, Outcome{}, err
	}
	return KeysChanged{Keys: keys}, Outcome{Key: new(keys[0].Shown())}, nil
}

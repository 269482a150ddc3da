package main

// profileArgs turns a profile into what app-server understands.
func profileArgs(codexHome, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	return nil, usageError("--profile: not yet")
}

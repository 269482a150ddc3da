module github.com/codexctl/codexctl/scripts/benchmark

go 1.26.0

require (
	github.com/codexctl/codexctl v0.0.0
	github.com/sourcegraph/jsonrpc2 v0.2.3
)

require (
	github.com/Masterminds/semver/v3 v3.5.0 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/codexctl/codexctl => ../..

//go:build race

package lifecycle

const defaultDepth = 5

//go:build tools

// Package tools names the programs of modules that the image has, so that go.mod says which.
package tools

import _ "github.com/fzipp/gocyclo/cmd/gocyclo"

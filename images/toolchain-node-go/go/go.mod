module bernstein.dev/images/toolchain-node-go

go 1.19

require github.com/fzipp/gocyclo v0.6.0

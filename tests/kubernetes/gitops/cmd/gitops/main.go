// Command gitops holds the parts of Argo CD that sync and judge objects, and what judges objects for
// Flux, in one binary. The part is chosen by the name it is called by, or by the first argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

var components = map[string]func() *cobra.Command{
	"argocd-application-controller": controller.NewCommand,
	"argocd-repo-server":            reposerver.NewCommand,
}

var judges = map[string]func() error{
	"argocd-health": argocdHealth,
	"flux-status":   fluxStatus,
}

func main() {
	name := filepath.Base(os.Args[0])
	if components[name] == nil && judges[name] == nil && len(os.Args) > 1 {
		name = os.Args[1]
		os.Args = os.Args[1:]
	}
	var err error
	switch {
	case components[name] != nil:
		err = components[name]().Execute()
	case judges[name] != nil:
		err = judges[name]()
	default:
		err = fmt.Errorf("usage: gitops PART [flags]")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

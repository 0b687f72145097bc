package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"github.com/argoproj/argo-cd/v3/common"
	"github.com/argoproj/argo-cd/v3/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/argo-cd/v3/util/settings"
	gitops "github.com/argoproj/gitops-engine/pkg/health"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
)

const namespace = "argocd"

// asked of Argo CD, as JSON on standard input.
type asked struct {
	// Config is the data of the ConfigMap argocd-cm.
	Config  map[string]string
	Objects []map[string]any
	Run     []run
}

type run struct {
	// Object is its place in the list of objects.
	Object     int
	Action     string
	Parameters map[string]string
}

// judged is what Argo CD shows of an object.
type judged struct {
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Actions []string `json:"actions"`
	// Disabled are actions that are shown and cannot be chosen.
	Disabled []string `json:"disabled"`
}

type result struct {
	Objects []judged         `json:"objects"`
	Changed []map[string]any `json:"changed"`
}

func argocdHealth() error {
	var question asked
	if err := json.NewDecoder(os.Stdin).Decode(&question); err != nil {
		return err
	}
	vm, err := machine(question.Config)
	if err != nil {
		return err
	}
	found := result{Objects: []judged{}, Changed: []map[string]any{}}
	objects := make([]*unstructured.Unstructured, 0, len(question.Objects))
	for _, each := range question.Objects {
		object := typed(each)
		objects = append(objects, object)
		seen, err := judge(vm, object)
		if err != nil {
			return err
		}
		found.Objects = append(found.Objects, seen)
	}
	for _, each := range question.Run {
		changed, err := perform(vm, objects[each.Object], each)
		if err != nil {
			return err
		}
		found.Changed = append(found.Changed, changed)
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// machine reads the ConfigMap as Argo CD reads it.
func machine(config map[string]string) (*lua.VM, error) {
	labels := map[string]string{"app.kubernetes.io/part-of": "argocd"}
	client := fake.NewClientset(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: common.ArgoCDConfigMapName, Namespace: namespace, Labels: labels},
		Data:       config,
	})
	manager := settings.NewSettingsManager(context.Background(), client, namespace)
	overrides, err := manager.GetResourceOverrides()
	return &lua.VM{ResourceOverrides: overrides}, err
}

// typed has whole numbers as integers, as objects of a cluster have them.
func typed(raw map[string]any) *unstructured.Unstructured {
	text, _ := json.Marshal(raw)
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	return object
}

func judge(vm *lua.VM, object *unstructured.Unstructured) (judged, error) {
	health, err := gitops.GetResourceHealth(object, lua.ResourceHealthOverrides(vm.ResourceOverrides))
	if err != nil {
		return judged{}, err
	}
	found := judged{Actions: []string{}, Disabled: []string{}}
	if health != nil {
		found.Status, found.Message = string(health.Status), health.Message
	}
	scripts, err := vm.GetResourceActionDiscovery(object)
	if err != nil || len(scripts) == 0 {
		return found, err
	}
	actions, err := vm.ExecuteResourceActionDiscovery(object, scripts)
	if err != nil {
		return found, err
	}
	for _, action := range actions {
		if action.Disabled {
			found.Disabled = append(found.Disabled, action.Name)
		} else {
			found.Actions = append(found.Actions, action.Name)
		}
	}
	slices.Sort(found.Actions)
	slices.Sort(found.Disabled)
	return found, nil
}

// perform gives the object as the action leaves it.
func perform(vm *lua.VM, object *unstructured.Unstructured, wanted run) (map[string]any, error) {
	action, err := vm.GetResourceAction(object, wanted.Action)
	if err != nil {
		return nil, err
	}
	parameters := []*application.ResourceActionParameters{}
	for name, value := range wanted.Parameters {
		parameters = append(parameters, &application.ResourceActionParameters{Name: &name, Value: &value})
	}
	changed, err := vm.ExecuteResourceAction(object, action.ActionLua, parameters)
	if err != nil {
		return nil, err
	}
	return changed[0].UnstructuredObj.Object, nil
}

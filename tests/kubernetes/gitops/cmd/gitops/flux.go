package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
)

// fluxStatus tells of each object what kstatus says, and what the expressions of its kind say.
func fluxStatus() error {
	var question struct {
		Expressions []kustomize.CustomHealthCheck
		Objects     []map[string]any
	}
	if err := json.NewDecoder(os.Stdin).Decode(&question); err != nil {
		return err
	}
	evaluators := map[string]*cel.StatusEvaluator{}
	for _, each := range question.Expressions {
		evaluator, err := cel.NewStatusEvaluator(&each.HealthCheckExpressions)
		if err != nil {
			return err
		}
		evaluators[each.APIVersion+" "+each.Kind] = evaluator
	}
	type judgement struct {
		Kstatus     string `json:"kstatus"`
		Expressions string `json:"expressions"`
	}
	found := []judgement{}
	for _, each := range question.Objects {
		object := typed(each)
		plain, err := status.Compute(object)
		if err != nil {
			return err
		}
		seen := judgement{Kstatus: plain.Status.String()}
		if evaluator := evaluators[object.GetAPIVersion()+" "+object.GetKind()]; evaluator != nil {
			told, err := evaluator.Evaluate(context.Background(), object)
			if err != nil {
				return err
			}
			seen.Expressions = told.Status.String()
		}
		found = append(found, seen)
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

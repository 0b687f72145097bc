{{/* The groups of files/monitoring/rules.yaml with this release's values. */}}
{{- define "bernstein.rules" -}}
{{- $rules := .Values.monitoring.rules -}}
{{- $home := .Chart.Home | default "" -}}
{{- $pages := printf "%s/blob/main/docs/runbooks/" ($home | trimSuffix "/") -}}
{{- $runbooks := $rules.runbooks | default (ternary $pages "docs/runbooks/" (ne $home "")) -}}
{{- .Files.Get "files/monitoring/rules.yaml"
  | replace "FIRST_PASS_OBJECTIVE" (toString $rules.objectives.firstPass)
  | replace "CLOSED_OBJECTIVE" (toString $rules.objectives.closed)
  | replace "CLOSED_WITHIN" (printf "%.1f" (float64 $rules.objectives.closedWithinSeconds))
  | replace "OPERATOR_LEASE" (include "bernstein.operator" .)
  | replace "RUNBOOKS" $runbooks -}}
{{- end -}}

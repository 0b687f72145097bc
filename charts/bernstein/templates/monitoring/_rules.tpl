{{/* Where the pages of alerts are, up to the last slash. */}}
{{- define "bernstein.runbooks" -}}
{{- $home := .Chart.Home | default "" -}}
{{- $pages := printf "%s/blob/main/docs/runbooks/" ($home | trimSuffix "/") -}}
{{- .Values.monitoring.rules.runbooks | default (ternary $pages "docs/runbooks/" (ne $home "")) -}}
{{- end -}}

{{/* The groups of files/monitoring/rules.yaml with this release's values. */}}
{{- define "bernstein.rules" -}}
{{- $rules := .Values.monitoring.rules -}}
{{- .Files.Get "files/monitoring/rules.yaml"
  | replace "FIRST_PASS_OBJECTIVE" (toString $rules.objectives.firstPass)
  | replace "CLOSED_OBJECTIVE" (toString $rules.objectives.closed)
  | replace "CLOSED_WITHIN" (printf "%.1f" (float64 $rules.objectives.closedWithinSeconds))
  | replace "OPERATOR_LEASE" (include "bernstein.operator" .)
  | replace "RUNBOOKS" (include "bernstein.runbooks" .) -}}
{{- end -}}

{{/* Called with (dict "root" $ "path" PATH): a dashboard with this release's values. */}}
{{- define "bernstein.dashboard" -}}
{{- .root.Files.Get .path
  | replace "OPERATOR_LEASE" (include "bernstein.operator" .root)
  | replace "RUNBOOKS" (include "bernstein.runbooks" .root)
  | trim -}}
{{- end -}}

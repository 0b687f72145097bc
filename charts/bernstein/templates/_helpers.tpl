{{- define "bernstein.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "bernstein" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-bernstein" (.Release.Name | trunc 30 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "bernstein.operator" -}}
{{ include "bernstein.fullname" . }}-operator
{{- end -}}

{{- define "bernstein.server" -}}
{{ include "bernstein.fullname" . }}-server
{{- end -}}

{{/* Components that Helm alone runs: see templates/hooks. */}}
{{- define "bernstein.trial" -}}
{{ include "bernstein.fullname" . }}-test
{{- end -}}

{{- define "bernstein.removal" -}}
{{ include "bernstein.fullname" . }}-removal
{{- end -}}

{{/* Called with (dict "on" EVENT "weight" TEXT): annotations of what Helm makes for an event, and
deletes when all went well. */}}
{{- define "bernstein.hook" -}}
helm.sh/hook: {{ .on }}
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: {{ .policy | default "before-hook-creation,hook-succeeded" }}
{{- end -}}

{{/* Called with (dict "root" $ "component" NAME): settings of a Job's pod, which goes where the operator
may. */}}
{{- define "bernstein.hookSettings" -}}
{{- $settings := pick .root.Values.operator "nodeSelector" "tolerations" "affinity" "priorityClassName" "podLabels" "podAnnotations" }}
{{- merge (dict "topologySpreadConstraints" list) $settings | toYaml }}
{{- end -}}

{{/* Called with (dict "root" $ "component" NAME "on" EVENT "module" NAME "args" LIST "seconds" NUMBER): the
Job, its account, and the policy by which nobody connects to its pod. */}}
{{- define "bernstein.hookJob" -}}
{{- $name := include (printf "bernstein.%s" .component) .root }}
{{- $first := include "bernstein.hook" (dict "on" .on "weight" "-5") | fromYaml }}
{{- $settings := include "bernstein.hookSettings" . | fromYaml }}
{{- $component := dict "root" .root "component" .component "settings" $settings }}
{{ include "bernstein.account" (merge (dict "settings" (dict "serviceAccount" (dict "annotations" $first))) $component) }}
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "bernstein.componentLabels" $component | nindent 4 }}
  annotations:
    {{- toYaml $first | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "bernstein.selector" $component | nindent 6 }}
  policyTypes: [Ingress]
{{- end }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "bernstein.componentLabels" $component | nindent 4 }}
  annotations:
    {{- include "bernstein.hook" (dict "on" .on "weight" "0") | nindent 4 }}
    # Helm from 3.18 shows the log.
    helm.sh/hook-output-log-policy: hook-failed,hook-succeeded
spec:
  backoffLimit: 0
  activeDeadlineSeconds: {{ add .seconds 60 }}
  # Of one that has failed the log is wanted, for a while.
  ttlSecondsAfterFinished: 86400
  template:
    metadata:
      {{- include "bernstein.podMetadata" $component | nindent 6 }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ $name }}
      {{- include "bernstein.podSettings" $component | nindent 6 }}
      containers:
        - name: {{ .component }}
          image: {{ include "bernstein.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          command: [python3, -m, bernstein.hooks.{{ .component }}]
          args:
            {{- range .args }}
            - {{ . | quote }}
            {{- end }}
            - --seconds={{ .seconds }}
          resources:
            requests: {cpu: 10m, memory: 64Mi}
            limits: {memory: 256Mi}
          terminationMessagePolicy: FallbackToLogsOnError
          securityContext:
            {{- include "bernstein.containerSecurity" .root | nindent 12 }}
          volumeMounts:
            - name: tmp
              mountPath: /tmp
      volumes:
        - name: tmp
          emptyDir: {sizeLimit: 16Mi}
{{- end -}}

{{- define "bernstein.certificates" -}}
{{ include "bernstein.fullname" . }}-certificates
{{- end -}}

{{/* User names of the two service accounts, as the API server sees them. */}}
{{- define "bernstein.operatorUser" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "bernstein.operator" . }}
{{- end -}}

{{- define "bernstein.serverUser" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "bernstein.server" . }}
{{- end -}}

{{- define "bernstein.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "bernstein.tlsSecret" -}}
{{ .Values.server.tls.existingSecret | default (printf "%s-certificate" (include "bernstein.server" .)) }}
{{- end -}}

{{/* Labels of everything that belongs to no single component. */}}
{{- define "bernstein.labels" -}}
app.kubernetes.io/name: bernstein
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: bernstein
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* Called with (dict "root" $ "component" NAME): what selects a component's pods. */}}
{{- define "bernstein.selector" -}}
app.kubernetes.io/name: bernstein
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "bernstein.componentLabels" -}}
{{ include "bernstein.labels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Called with (dict "root" $ "component" NAME "settings" VALUES): the part of a pod's spec that
operator and server have in common. */}}
{{- define "bernstein.podSettings" -}}
automountServiceAccountToken: true
enableServiceLinks: false
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .settings.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $selector := include "bernstein.selector" . | fromYaml }}
{{- $constraints := .settings.topologySpreadConstraints }}
{{- if kindIs "invalid" $constraints }}
{{- $constraints = list (dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway") }}
{{- end }}
{{- with $constraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{ merge (dict) (hasKey . "labelSelector" | ternary (dict) (dict "labelSelector" (dict "matchLabels" $selector))) . | toYaml | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Called with the same: what a component's pods are labelled and annotated with. */}}
{{- define "bernstein.podMetadata" -}}
labels:
  {{- include "bernstein.selector" . | nindent 2 }}
  {{- with .settings.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .settings.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Called with the same: a component's account. */}}
{{- define "bernstein.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include (printf "bernstein.%s" .component) .root }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "bernstein.componentLabels" . | nindent 4 }}
  {{- with (.settings.serviceAccount | default dict).annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end -}}

{{/* Called with the same. */}}
{{- define "bernstein.disruptionBudget" -}}
{{- if .settings.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include (printf "bernstein.%s" .component) .root }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "bernstein.componentLabels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .settings.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels:
      {{- include "bernstein.selector" . | nindent 6 }}
{{- end }}
{{- end -}}

{{- define "bernstein.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Called with (dict "port" NAME "scheme" SCHEME). */}}
{{- define "bernstein.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ .scheme }}}
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ .scheme }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: {{ .port }}, scheme: {{ .scheme }}}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}

{{/* Called with (dict "root" $ "port" NUMBER "scheme" SCHEME). */}}
{{- define "bernstein.scrapeAnnotations" -}}
{{- $monitoring := .root.Values.monitoring }}
{{- if and .root.Values.metrics.scrapeAnnotations (not (or $monitoring.serviceMonitors.enabled $monitoring.podMonitors.enabled)) }}
annotations:
  prometheus.io/scrape: "true"
  prometheus.io/path: /metrics
  prometheus.io/port: {{ .port | quote }}
  prometheus.io/scheme: {{ .scheme }}
{{- end }}
{{- end -}}

{{/* Called with (dict "root" $ "account" NAME "rules" RULES "clusterRules" RULES): what an account may
do: in the whole cluster, or in the namespaces that are watched, where the clusterRules are about
what is in no namespace. With "annotations" they have those. */}}
{{- define "bernstein.grant" -}}
{{- $names := .root.Values.watch.namespaces }}
{{- $cluster := list }}
{{- if not $names }}{{ $cluster = append $cluster .rules }}{{ end }}
{{- with .clusterRules }}{{ $cluster = append $cluster . }}{{ end }}
{{- if $cluster }}
{{- include "bernstein.roleAndBinding" (dict "root" .root "account" .account "name" .account "rules" (join "\n" $cluster) "annotations" .annotations) }}
{{- end }}
{{- $annotations := .annotations }}
{{- range $at, $name := $names }}
{{- if or $at $cluster }}
---
{{ end }}
{{- include "bernstein.roleAndBinding" (dict "root" $.root "account" $.account "name" (printf "%s-work" $.account) "rules" $.rules "namespace" $name "annotations" $annotations) }}
{{- end }}
{{- end -}}

{{/* Called with (dict "root" $ "account" NAME "name" NAME "rules" RULES), "namespace" where they
are no ClusterRole and ClusterRoleBinding, and "annotations". */}}
{{- define "bernstein.roleAndBinding" -}}
{{- $kind := empty .namespace | ternary "ClusterRole" "Role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  labels:
    {{- include "bernstein.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  labels:
    {{- include "bernstein.labels" .root | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end -}}

{{/* A label selector of the namespaces that are watched; nothing where all are. Nobody changes this label
of a namespace. */}}
{{- define "bernstein.watched" -}}
{{- with .Values.watch.namespaces -}}
matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: {{ toJson . }}}]
{{- end -}}
{{- end -}}

{{/* CEL: the labels by which the operator finds its objects, as `core/labels.py` has them, but for
`managed-by`, which others have, too. The id of a task file is people's: the operator does not read
it. They are asked for by name: to go through all labels of an object, which may have tens of
thousands, costs the API server time that grows with their square. */}}
{{- define "bernstein.ourLabels" -}}
['bernstein.dev/asked', 'bernstein.dev/check', 'bernstein.dev/job', 'bernstein.dev/known-base', 'bernstein.dev/made-with',
'bernstein.dev/owner-uid', 'bernstein.dev/plan', 'bernstein.dev/project', 'bernstein.dev/report', 'bernstein.dev/repository',
'bernstein.dev/session', 'bernstein.dev/stage', 'bernstein.dev/subtask-of',
'bernstein.dev/task']
{{- end -}}

{{/* CEL: whether the labels l say that it is ours. */}}
{{- define "bernstein.hasOurLabels" -}}
(l[?'app.kubernetes.io/managed-by'].orValue('') == 'bernstein' ||
{{ include "bernstein.ourLabels" . }}.exists(k, k in l))
{{- end -}}

{{/* CEL: whether an object of our kinds owns the object o. */}}
{{- define "bernstein.isOwned" -}}
o.?metadata.?ownerReferences.orValue([]).exists(r, r.apiVersion.startsWith('bernstein.dev/'))
{{- end -}}

{{/* Variables of a policy: `keepsLabels`, whether a change leaves labels of ours as they are. */}}
{{- define "bernstein.keepsLabels" -}}
- name: before
  expression: "oldObject == null ? {} : oldObject.?metadata.?labels.orValue({})"
- name: after
  expression: "object.?metadata.?labels.orValue({})"
- name: keepsLabels
  expression: >-
    {{- include "bernstein.ourLabels" . | nindent 4 }}.all(k,
    variables.before[?k] == variables.after[?k]) &&
    (variables.before[?'app.kubernetes.io/managed-by'].orValue('') == 'bernstein') ==
    (variables.after[?'app.kubernetes.io/managed-by'].orValue('') == 'bernstein')
{{- end -}}

{{/* Called with (dict "root" $ "name" NAME): binds the admission policy of that name, in the namespaces
that are watched, or with "everywhere" true in all. */}}
{{- define "bernstein.policyBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ include "bernstein.fullname" .root }}-{{ .name }}
  labels:
    {{- include "bernstein.labels" .root | nindent 4 }}
spec:
  policyName: {{ include "bernstein.fullname" .root }}-{{ .name }}
  validationActions: [Deny]
  {{- if and .root.Values.watch.namespaces (not .everywhere) }}
  matchResources:
    namespaceSelector:
      {{ include "bernstein.watched" .root }}
  {{- end }}
{{- end -}}

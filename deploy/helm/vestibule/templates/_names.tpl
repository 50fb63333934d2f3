{{/* Names and labels of objects. Here and in the other helpers, `.root` is what a template is given as
`$`, `.name` is `admission` or `controller`, and `.part` its values. */}}

{{- define "vestibule.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "vestibule.name" -}}
{{ include "vestibule.fullname" .root }}-{{ .name }}
{{- end }}

{{/* What never changes in the life of a release: by these, services and policies find the pods. */}}
{{- define "vestibule.selector" -}}
app.kubernetes.io/name: vestibule
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/* The labels of what belongs to both; `$` is given. */}}
{{- define "vestibule.commonLabels" -}}
app.kubernetes.io/name: vestibule
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: vestibule
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "vestibule.labels" -}}
{{ include "vestibule.commonLabels" .root }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "vestibule.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "vestibule.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The Secret with the deployment's secret and the API token. */}}
{{- define "vestibule.secretName" -}}
{{- default (printf "%s-keys" (include "vestibule.fullname" .)) .Values.secrets.existingSecret -}}
{{- end }}

{{- define "vestibule.image" -}}
{{- $image := .part.image -}}
{{- with .root.Values.image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ default .root.Chart.AppVersion $image.tag }}{{ end -}}
{{- end }}

{{/* The public port of each in its pods. */}}
{{- define "vestibule.port" -}}
{{ if eq .name "admission" }}8080{{ else }}8081{{ end }}
{{- end }}

{{/* The port of `/livez`, `/readyz` and `/metrics`. */}}
{{- define "vestibule.adminPort" -}}
{{ if eq .name "admission" }}9080{{ else }}9081{{ end }}
{{- end }}

{{- define "vestibule.scheme" -}}
{{ if .part.tlsSecret }}https{{ else }}http{{ end }}
{{- end }}

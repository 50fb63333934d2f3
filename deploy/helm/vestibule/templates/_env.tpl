{{/* The variables of a container: secrets are files, and their variables say where. */}}
{{- define "vestibule.env" -}}
{{- range $variable, $value := include "vestibule.settings" . | fromYaml }}
- name: {{ $variable }}
  value: {{ $value | quote }}
{{- end }}
{{- with .root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Those that are not in `extraEnv`, as a map: what is said for one service goes before what is said for both,
and both before what the other values come to. */}}
{{- define "vestibule.settings" -}}
{{- $values := .root.Values -}}
{{- $settings := dict
  "VESTIBULE_LISTEN" (printf "%s:%s" $values.listenHost (include "vestibule.port" .))
  "VESTIBULE_ADMIN_LISTEN" (printf "%s:%s" $values.listenHost (include "vestibule.adminPort" .))
  "VESTIBULE_REGION" $values.region
  "VESTIBULE_TRUSTED_PROXIES" (join "," $values.trustedProxies)
  "VESTIBULE_LOG" $values.log.filter
  "VESTIBULE_LOG_FORMAT" $values.log.format
  "VESTIBULE_SHUTDOWN_GRACE_SECONDS" (.part.shutdownGraceSeconds | int | toString)
-}}
{{- range $variable, $key := include "vestibule.secretFiles" . | fromYaml }}
{{- $_ := set $settings $variable (printf "/run/vestibule/keys/%s" $key) }}
{{- end }}
{{- if $values.redis.existingSecret }}
{{- $_ := set $settings "VESTIBULE_REDIS_URL_FILE" "/run/vestibule/redis/redis-url" }}
{{- else }}
{{- $_ := set $settings "VESTIBULE_REDIS_URL" $values.redis.url }}
{{- end }}
{{- if $values.publicUrl }}
{{- $_ := set $settings "VESTIBULE_PUBLIC_URL" $values.publicUrl }}
{{- end }}
{{- if $values.redis.caSecret }}
{{- $_ := set $settings "VESTIBULE_REDIS_CA_FILE" "/run/vestibule/redis-ca/ca.crt" }}
{{- end }}
{{- if .part.tlsSecret }}
{{- $_ := set $settings "VESTIBULE_TLS_CERT" "/run/vestibule/tls/tls.crt" }}
{{- $_ := set $settings "VESTIBULE_TLS_KEY" "/run/vestibule/tls/tls.key" }}
{{- end }}
{{- if .part.clientCaSecret }}
{{- $_ := set $settings "VESTIBULE_TLS_CLIENT_CA" "/run/vestibule/client-ca/ca.crt" }}
{{- end }}
{{- if and (eq .name "admission") .part.grpc.enabled }}
{{- $port := .part.grpc.port | int }}
{{- $_ := set $settings "VESTIBULE_GRPC_LISTEN" (printf "%s:%d" $values.listenHost $port) }}
{{- end }}
{{- toYaml (mergeOverwrite $settings (deepCopy $values.env) (deepCopy .part.env)) }}
{{- end }}

{{/* Which variables name files of the Secret, and by which key: each service has only its own. */}}
{{- define "vestibule.secretFiles" -}}
{{- $keys := .root.Values.secrets.keys -}}
VESTIBULE_SECRET_FILE: {{ $keys.secret }}
{{- with $keys.secretPrevious }}
VESTIBULE_SECRET_PREVIOUS_FILE: {{ . }}
{{- end }}
{{- if eq .name "controller" }}
VESTIBULE_API_TOKEN_FILE: {{ $keys.apiToken }}
{{- with $keys.apiTokens }}
VESTIBULE_API_TOKENS_FILE: {{ . }}
{{- end }}
{{- with $keys.sigv4Keys }}
VESTIBULE_SIGV4_KEYS_FILE: {{ . }}
{{- end }}
{{- else }}
{{- range $provider := list "turnstile" "hcaptcha" "recaptcha" }}
{{- with get $keys $provider }}
VESTIBULE_{{ upper $provider }}_SECRET_FILE: {{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

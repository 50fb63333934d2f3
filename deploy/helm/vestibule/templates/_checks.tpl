{{/* What no schema can tell: values that contradict one another. Each says how to mend it. */}}
{{- define "vestibule.checks" -}}
{{- $values := .Values -}}
{{- if not $values.redis.existingSecret }}
{{- /* Nothing here repeats the address: it may hold a password all the same. */}}
{{- if contains "@" $values.redis.url }}
{{- fail "redis.url has a user or a password: put the address into a Secret, and name that in redis.existingSecret" }}
{{- end }}
{{- if not (regexMatch "^rediss?([+]sentinel)?://." $values.redis.url) }}
{{- fail "redis.url must begin with redis://, rediss://, redis+sentinel:// or rediss+sentinel://" }}
{{- end }}
{{- end }}
{{- range $settings := list $values.env $values.admission.env $values.controller.env }}
{{- range $variable, $_ := $settings }}
{{- if regexMatch "(^VESTIBULE_(REDIS_URL|API_TOKENS?|SECRET_PREVIOUS)|_SECRET|_KEYS|_HEADERS)$" $variable }}
{{- fail (printf "%s is a secret, and env is read by many: put it into a Secret, see secrets, redis and extraEnv" $variable) }}
{{- end }}
{{- end }}
{{- end }}
{{- $mounted := list }}
{{- range $values.extraVolumeMounts }}
{{- $mounted = append $mounted .name }}
{{- end }}
{{- range $values.extraVolumes }}
{{- if has .name (list "keys" "redis" "redis-ca" "tls" "client-ca") }}
{{- fail (printf "extraVolumes has a volume %q, which is a name of the chart's own: call it otherwise" .name) }}
{{- end }}
{{- if not (has .name $mounted) }}
{{- fail (printf "extraVolumes has a volume %q that extraVolumeMounts mounts nowhere" .name) }}
{{- end }}
{{- $mounted = without $mounted .name }}
{{- end }}
{{- range $mounted }}
{{- fail (printf "extraVolumeMounts names the volume %q, which is not in extraVolumes" .) }}
{{- end }}
{{- with $values.admission.autoscaling }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
{{- fail "admission.autoscaling.minReplicas is more than maxReplicas" }}
{{- end }}
{{- end }}
{{- if $values.secrets.externalSecret.enabled }}
{{- if not (and $values.secrets.existingSecret $values.secrets.externalSecret.storeName) }}
{{- fail "secrets.externalSecret needs secrets.existingSecret, the name of the Secret to make, and storeName" }}
{{- end }}
{{- end }}
{{- if and $values.controller.clientCaSecret (not $values.controller.tlsSecret) }}
{{- fail "controller.clientCaSecret needs controller.tlsSecret: there are no certificates of clients without TLS" }}
{{- end }}
{{- if not $values.secrets.existingSecret }}
{{- range $name, $default := dict "secret" "secret" "apiToken" "api-token" "secretPrevious" "" "apiTokens" "" "sigv4Keys" "" "turnstile" "" "hcaptcha" "" "recaptcha" "" }}
{{- if ne (get $values.secrets.keys $name) $default }}
{{- fail (printf "secrets.keys.%s is for a Secret of yours: name it in secrets.existingSecret" $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- if $values.networkPolicy.enabled }}
{{- include "vestibule.reachable" . }}
{{- end }}
{{- end }}

{{- define "vestibule.reachable" -}}
{{- $policy := .Values.networkPolicy -}}
{{- $controller := .Values.controller -}}
{{- if and (or $controller.ingress.enabled $controller.httpRoute.enabled) (not $policy.controllerFrom) }}
{{- fail "the controller has an Ingress or HTTPRoute that cannot reach it: name its pods in networkPolicy.controllerFrom" }}
{{- end }}
{{- if and .Values.admission.grpc.enabled (not $policy.grpcFrom) }}
{{- fail "nobody can reach admission's gRPC: name Envoy's pods in networkPolicy.grpcFrom" }}
{{- end }}
{{- if and .Values.monitoring.serviceMonitor.enabled (not $policy.metricsFrom) }}
{{- fail "Prometheus cannot reach /metrics: name its pods in networkPolicy.metricsFrom" }}
{{- end }}
{{- end }}

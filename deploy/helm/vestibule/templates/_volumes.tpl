{{/* What is mounted, and where. All of ours is read-only and readable for the group of the pod alone. */}}
{{- define "vestibule.mounts" -}}
- {name: keys, mountPath: /run/vestibule/keys, readOnly: true}
{{- if .root.Values.redis.existingSecret }}
- {name: redis, mountPath: /run/vestibule/redis, readOnly: true}
{{- end }}
{{- if .root.Values.redis.caSecret }}
- {name: redis-ca, mountPath: /run/vestibule/redis-ca, readOnly: true}
{{- end }}
{{- if .part.tlsSecret }}
- {name: tls, mountPath: /run/vestibule/tls, readOnly: true}
{{- end }}
{{- if .part.clientCaSecret }}
- {name: client-ca, mountPath: /run/vestibule/client-ca, readOnly: true}
{{- end }}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "vestibule.volumes" -}}
- name: keys
  secret:
    secretName: {{ include "vestibule.secretName" .root }}
    defaultMode: 0440
    items:
      {{- range $key := include "vestibule.secretFiles" . | fromYaml | values | uniq | sortAlpha }}
      - {key: {{ $key }}, path: {{ $key }}}
      {{- end }}
{{- $key := printf "%sKey" .name }}
{{- with .root.Values.redis }}
{{- if .existingSecret }}
- name: redis
  secret:
    secretName: {{ .existingSecret }}
    defaultMode: 0440
    items: [{key: {{ get . $key }}, path: redis-url}]
{{- end }}
{{- if .caSecret }}
- name: redis-ca
  secret:
    secretName: {{ .caSecret }}
    defaultMode: 0440
    items: [{key: {{ .caKey }}, path: ca.crt}]
{{- end }}
{{- end }}
{{- with .part.tlsSecret }}
- name: tls
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- with .part.clientCaSecret }}
- name: client-ca
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items: [{key: ca.crt, path: ca.crt}]
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The pod of either service: without rights, on a file system that nobody can write to. */}}
{{- define "vestibule.pod" -}}
serviceAccountName: {{ include "vestibule.serviceAccount" .root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
# The sleep before SIGTERM, the grace after it, and what the program takes to end what is left then.
terminationGracePeriodSeconds: {{ add .part.preStopSleepSeconds .part.shutdownGraceSeconds 5 }}
containers:
  - name: {{ .name }}
    image: {{ include "vestibule.image" . | quote }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    env:
      {{- include "vestibule.env" . | nindent 6 }}
    ports:
      - {name: {{ include "vestibule.scheme" . }}, containerPort: {{ include "vestibule.port" . }}}
      - {name: admin, containerPort: {{ include "vestibule.adminPort" . }}}
      {{- if and (eq .name "admission") .part.grpc.enabled }}
      - {name: grpc, containerPort: {{ .part.grpc.port }}}
      {{- end }}
    {{- include "vestibule.life" . | nindent 4 }}
    resources:
      {{- toYaml .part.resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {drop: [ALL]}
    volumeMounts:
      {{- include "vestibule.mounts" . | nindent 6 }}
volumes:
  {{- include "vestibule.volumes" . | nindent 2 }}
{{- include "vestibule.placement" . }}
{{- end }}

{{/* Probes, and what is done before SIGTERM. Load changes neither probe, so no rush takes pods away; the
action `sleep` is the kubelet's own, since the images have no shell. */}}
{{- define "vestibule.life" -}}
startupProbe:
  httpGet: {path: /livez, port: admin}
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /livez, port: admin}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: admin}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 3
{{- if .part.preStopSleepSeconds }}
lifecycle:
  preStop: {sleep: {seconds: {{ .part.preStopSleepSeconds }}}}
{{- end }}
{{- end }}

{{/* Where pods may run: spread over zones and over nodes. */}}
{{- define "vestibule.placement" }}
topologySpreadConstraints:
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - topologyKey: {{ $key }}
    maxSkew: 1
    whenUnsatisfiable: {{ $.part.spread }}
    labelSelector:
      matchLabels:
        {{- include "vestibule.selector" $ | nindent 8 }}
    # Each release of its own: the pods that are going do not count.
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $.part $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

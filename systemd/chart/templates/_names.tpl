{{- define "fleetward.labels" -}}
app.kubernetes.io/name: fleetward
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "fleetward.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
{{- end }}

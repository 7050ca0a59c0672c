{{- define "fleetward.labels" -}}
app.kubernetes.io/name: fleetward
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

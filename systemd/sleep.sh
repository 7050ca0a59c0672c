#!/bin/sh
# Suspends the machine for the seconds in the agent's request. What is in the file was written by the agent: it is taken as a number within
# limits, or not at all. fleetward-agent-sleep.service starts the agent again, whatever happens here.
# Arguments, for tests: the request, and the program that suspends.
set -eu

request=${1:-/run/fleetward-agent/sleep}
rtcwake=${2:-rtcwake}

# A request that nothing took in time may be of a vehicle that drives now.
fresh=$(find "$request" -maxdepth 0 -mmin -1)
seconds=$(head -c 8 "$request" | head -n 1)
rm -f "$request"
if [ -z "$fresh" ]; then
	echo 'fleetward-agent sleep: the request is older than a minute' >&2
	exit 65
fi
case "$seconds" in
'' | *[!0-9]* | 0*)
	echo 'fleetward-agent sleep: the request is no number of seconds' >&2
	exit 65
	;;
esac
if [ "$seconds" -lt 60 ] || [ "$seconds" -gt 86400 ]; then
	echo "fleetward-agent sleep: $seconds s is not 60 to 86400" >&2
	exit 65
fi
command -v "$rtcwake" >/dev/null || {
	echo 'fleetward-agent sleep: there is no rtcwake (package util-linux)' >&2
	exit 69
}
systemctl stop fleetward-agent.service
"$rtcwake" --mode mem --seconds "$seconds"

#!/bin/sh
# What the service starts: asks the launcher which release is to run and becomes it (same process, so signals, the
# watchdog and the exit code are the agent's own). Root owns it. It must never end without an agent: when the launcher
# fails, or hangs for a minute, the packaged release runs.
# Arguments up to `--` are for the launcher, the rest for the agent.
set -u

home=$(dirname -- "$(readlink -f -- "$0")")
node=$home/node
packaged=$home/app

launcher_arguments=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	launcher_arguments="$launcher_arguments $1"
	shift
done
[ $# -eq 0 ] || shift

launcher() {
	# Unquoted on purpose: options and paths without blanks.
	# shellcheck disable=SC2086
	timeout -k 5 60 "$node" "$packaged/dist/agent/cli/launch.js" "$@" $launcher_arguments
}

folder=
seconds=0
if chosen=$(launcher choose); then
	folder=${chosen% *}
	seconds=${chosen##* }
fi
if [ ! -r "$folder/dist/agent/main.js" ]; then
	echo "fleetward-agent launcher: nothing was chosen; the packaged release runs" >&2
	folder=$packaged
	seconds=0
fi

if [ "$seconds" -gt 0 ]; then
	# A release on trial that is not confirmed in time is stopped, whatever it thinks of itself; the next start counts.
	(
		born=$(cut -d ' ' -f 22 "/proc/$$/stat")
		sleep "$seconds"
		[ "$(cut -d ' ' -f 22 "/proc/$$/stat" 2>/dev/null)" = "$born" ] || exit 0
		if launcher overdue; then
			echo "fleetward-agent launcher: the release on trial was not confirmed in $seconds s and is stopped" >&2
			kill -TERM $$
		fi
	) >/dev/null &
fi

# For memory, at no cost that was measured (`npm run bench -- agent --sections footprint`: 139 MB without, 88 with): a small
# nursery, a tidy heap, one helper thread, few arenas. No hard limit: salvaging a damaged queue takes what it needs.
export MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
exec "$node" --max-semi-space-size=1 --optimize-for-size --v8-pool-size=1 "$folder/dist/agent/main.js" "$@"

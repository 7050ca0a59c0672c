#!/bin/sh
# Gives the serial ports of a vehicle their steady names /dev/fleet-board, /dev/fleet-gnss and, where they are fitted, /dev/fleet-bus,
# /dev/fleet-driver and /dev/fleet-fuel: lists the ports, and writes the udev rule for those that were chosen. Needs no network. Never guesses which port is which.
set -eu

rules=/etc/udev/rules.d/70-fleetward.rules
reload=yes

usage() {
	cat <<-END
		fleetward-agent-ports list                                   the serial ports of this machine
		fleetward-agent-ports set --board /dev/X --gnss /dev/Y       name them, by the place that they are plugged into
		fleetward-agent-ports show                                   what the names stand for now
		Options of set: --bus /dev/Z (adapter of the vehicle bus), --driver /dev/Z (reader of drivers' keys), --fuel /dev/Z (digital fuel sender), --rules FILE (standard: $rules), --no-reload (write the file and do no more)
		Which is which: unplug one, and look at what is gone from the list.
		Exit codes: 0 good, 64 wrong command line, 69 no such port, 77 not root.
	END
}

die() {
	code=$1
	shift
	printf 'fleetward-agent-ports: %s\n' "$@" >&2
	exit "$code"
}

# property NODE NAME: one udev property, empty when there is none.
property() {
	udevadm info --query=property --name="$1" 2>/dev/null | sed -n "s/^$2=//p" | head -n 1
}

# Ports of USB adapters, and those on the board that have hardware behind them (8250 invents empty ones: type 0).
list_nodes() {
	for entry in /sys/class/tty/*; do
		name=${entry##*/}
		case "$name" in
		ttyUSB* | ttyACM* | ttyAMA* | ttymxc* | ttySC* | ttyTHS* | ttyO*) echo "/dev/$name" ;;
		ttyS*)
			[ "$(cat "$entry/type" 2>/dev/null || echo 0)" = 0 ] || echo "/dev/$name"
			;;
		esac
	done
}

list() {
	nodes=$(list_nodes)
	if [ -z "$nodes" ]; then
		echo 'There is no serial port. Plug the adapter in; dmesg | tail says whether its driver is there.'
		return 0
	fi
	printf '%-16s %-48s %s\n' PORT PLACE DEVICE
	for node in $nodes; do
		place=$(property "$node" ID_PATH)
		model=$(property "$node" ID_MODEL_FROM_DATABASE)
		[ -n "$model" ] || model="$(property "$node" ID_VENDOR) $(property "$node" ID_MODEL)"
		printf '%-16s %-48s %s\n' "$node" "${place:--}" "$model"
	done
	show
}

show() {
	for name in fleet-board fleet-gnss fleet-bus fleet-driver fleet-fuel; do
		if [ -e "/dev/$name" ]; then
			echo "/dev/$name -> $(readlink -f "/dev/$name")"
		else
			case "$name" in fleet-board | fleet-gnss) echo "/dev/$name: not there" ;; esac
		fi
	done
}

# match NODE: what tells this port from all others, as udev conditions.
match() {
	place=$(property "$1" ID_PATH)
	case "$place" in
	*[!A-Za-z0-9:._+-]*) die 69 "the place of $1 has characters that do not belong there: $place" ;;
	'')
		# A port of the board itself has no place on a bus, but its name does not change.
		case "${1##*/}" in
		ttyUSB* | ttyACM*) die 69 "udev knows no place (ID_PATH) of $1, and its name may change with every replug." 'Is udevd running?' ;;
		esac
		printf 'KERNEL=="%s"' "${1##*/}"
		;;
	*)
		printf 'ENV{ID_PATH}=="%s"' "$place"
		# An adapter with several ports on one interface numbers them.
		port=$(cat "/sys/class/tty/${1##*/}/device/port_number" 2>/dev/null || true)
		case "$port" in
		'' | *[!0-9]*) ;;
		*) printf ', ATTRS{port_number}=="%s"' "$port" ;;
		esac
		;;
	esac
}

# ID_MM_PORT_IGNORE keeps ModemManager off, which sends AT commands to every serial port of USB that it does not know.
rule() {
	printf 'SUBSYSTEM=="tty", %s, SYMLINK+="fleet-%s", GROUP="dialout", MODE="0660", ENV{ID_MM_PORT_IGNORE}="1", TAG+="systemd", ENV{SYSTEMD_WANTS}+="fleetward-agent-port@%s.service"\n' "$2" "$1" "$1"
}

# node_of TEXT: the device itself, whatever link was given.
node_of() {
	node=$(readlink -f -- "$1") || node=
	case "$node" in
	/dev/tty[A-Z]* | /dev/ttymxc*) ;;
	*) die 69 "$1 is not a serial port" 'fleetward-agent-ports list shows those that there are.' ;;
	esac
	[ -c "$node" ] || die 69 "$1 is not there" 'fleetward-agent-ports list shows those that there are.'
	echo "$node"
}

set_ports() {
	board=
	gnss=
	bus=
	driver=
	fuel=
	while [ $# -gt 0 ]; do
		case "$1" in
		--board) board=${2:-} ;;
		--gnss) gnss=${2:-} ;;
		--bus) bus=${2:-} ;;
		--driver) driver=${2:-} ;;
		--fuel) fuel=${2:-} ;;
		--rules) rules=${2:-} ;;
		--no-reload) reload=no ;;
		*) die 64 "unknown: $1" 'Try fleetward-agent-ports --help.' ;;
		esac
		if [ "$1" = --no-reload ]; then shift; else shift 2 || die 64 "$1 wants a value"; fi
	done
	[ -n "$board" ] && [ -n "$gnss" ] || die 64 'say both ports: --board /dev/X --gnss /dev/Y'
	board=$(node_of "$board")
	gnss=$(node_of "$gnss")
	[ "$board" != "$gnss" ] || die 64 "$board cannot be both the board and the receiver"
	board_match=$(match "$board")
	gnss_match=$(match "$gnss")
	[ "$board_match" != "$gnss_match" ] || die 69 "udev cannot tell $board and $gnss apart: $board_match"
	bus_match=
	if [ -n "$bus" ]; then
		bus=$(node_of "$bus")
		bus_match=$(match "$bus")
		[ "$bus_match" != "$board_match" ] && [ "$bus_match" != "$gnss_match" ] || die 64 "$bus is the board or the receiver already"
	fi
	driver_match=
	if [ -n "$driver" ]; then
		driver=$(node_of "$driver")
		driver_match=$(match "$driver")
		for taken in "$board_match" "$gnss_match" "$bus_match"; do
			[ "$driver_match" != "$taken" ] || die 64 "$driver is another port already"
		done
	fi
	fuel_match=
	if [ -n "$fuel" ]; then
		fuel=$(node_of "$fuel")
		fuel_match=$(match "$fuel")
		for taken in "$board_match" "$gnss_match" "$bus_match" "$driver_match"; do
			[ "$fuel_match" != "$taken" ] || die 64 "$fuel is another port already"
		done
	fi
	[ "$(id -u)" = 0 ] || die 77 "only root can write $rules" 'Run it with sudo.'
	{
		echo '# Written by fleetward-agent-ports; run it again when a port was plugged in elsewhere.'
		rule board "$board_match"
		rule gnss "$gnss_match"
		[ -z "$bus_match" ] || rule bus "$bus_match"
		[ -z "$driver_match" ] || rule driver "$driver_match"
		[ -z "$fuel_match" ] || rule fuel "$fuel_match"
	} >"$rules.new"
	chmod 0644 "$rules.new"
	sync "$rules.new"
	mv "$rules.new" "$rules"
	echo "written: $rules"
	[ "$reload" = yes ] || return 0
	udevadm control --reload
	udevadm trigger --subsystem-match=tty --action=change
	udevadm settle --timeout=10 || true
	show
	if [ -d /run/systemd/system ]; then
		systemctl start fleetward-agent-port@board.service || true
	fi
	echo 'In agent.toml: board.port = "/dev/fleet-board", gnss.port = "/dev/fleet-gnss". Then: systemctl restart fleetward-agent'
}

case "${1:-}" in
list) list ;;
show) show ;;
set)
	shift
	set_ports "$@"
	;;
-h | --help | help) usage ;;
*)
	usage >&2
	exit 64
	;;
esac

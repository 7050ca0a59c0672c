# Completion of fleetward-broker(8) for bash: asks the program itself, so that it knows every command and flag of this release.
_fleetward_broker() {
	local word=${COMP_WORDS[COMP_CWORD]} words
	words=$(fleetward-broker --get-yargs-completions "${COMP_WORDS[@]}" 2>/dev/null) || return 0
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o bashdefault -o default -F _fleetward_broker fleetward-broker

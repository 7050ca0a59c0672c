// `npm run man`: writes systemd/man/fleetward-agent.toml.5, the manual page of every setting, from the schema that checks them. So
// the page cannot say anything else than the program does; a test fails while the two differ.
import { writeFileSync } from 'node:fs';
import { agentFileSchema } from '../agent/config.ts';
import { settingsOf } from '../src/config.ts';

const target = new URL('../../systemd/man/fleetward-agent.toml.5', import.meta.url).pathname;

/** Text for troff: a backslash and a hyphen have meanings, and so does a dot or a quote at the start of a line. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('`', '')
    .replace(/^([.'])/gm, '\\&$1');
}

const head = `.\\" Made by \`npm run man\` from agent/config.ts: do not edit.
.TH FLEETWARD-AGENT.TOML 5 "" "Fleetward" "File formats"
.SH NAME
fleetward\\-agent.toml \\- settings of the agent of one vehicle
.SH SYNOPSIS
.I /etc/fleetward\\-agent/agent.toml
.SH DESCRIPTION
A TOML 1.0 file. A key that is not known is an error. Each setting can also be given by the environment variable at its end,
which wins over the file. Settings of the tables reporting, link, alarms, fuel and zones can be changed by a signed
configuration of the broker;
.B fleetward\\-agent config show \\-\\-origin
says which. Nothing from outside changes any other.
`;

const tail = `.SH SEE ALSO
.BR fleetward\\-agent (8)
`;

const overrides = `What differs from the profile, in the tables inputs, analogs, relays, outputs, polls, units, serial; false takes a signal or
relay away. In the file only.`;

/** The page as troff, with the man macros. */
export function formatSettingsPage(): string {
  const tables = new Map<string, string[]>();
  for (const { key, words } of settingsOf(agentFileSchema)) {
    const [table = ''] = key.split('.', 1);
    const text = key === 'board.overrides' ? overrides : words;
    tables.set(table, [...(tables.get(table) ?? []), `.TP\n.B ${escaped(key)}\n${escaped(text)}.\n`]);
  }
  const sections = [...tables].map(([table, entries]) => `.SS [${escaped(table)}]\n${entries.join('')}`);
  return `${head}.SH SETTINGS\n${sections.join('')}${tail}`;
}

if (process.argv[1]?.endsWith('man-page.js') === true) writeFileSync(target, formatSettingsPage());

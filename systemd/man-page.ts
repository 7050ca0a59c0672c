// `npm run man`: writes the manual pages that are made from the programs: every setting of the agent and of the broker from the
// schema that checks them, every command of the broker from its command line. So no page can say anything else than the
// program does; a test fails while the two differ.
import { writeFileSync } from 'node:fs';
import { agentFileSchema } from '../agent/config.ts';
import { settingsOf } from '../src/config.ts';
import { formatBrokerPage, formatBrokerSettings } from './man-broker.ts';
import { formatSettings } from './troff.ts';

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
  const settings = settingsOf(agentFileSchema).map(({ key, words }) => ({
    key,
    words: key === 'board.overrides' ? overrides : words,
  }));
  return `${head}${formatSettings(settings)}${tail}`;
}

if (process.argv[1]?.endsWith('man-page.js') === true) {
  const put = (name: string, text: string): void =>
    writeFileSync(new URL(`../../systemd/man/${name}`, import.meta.url), text);
  put('fleetward-agent.toml.5', formatSettingsPage());
  put('fleetward-broker.toml.5', formatBrokerSettings());
  put('fleetward-broker.8', await formatBrokerPage());
}

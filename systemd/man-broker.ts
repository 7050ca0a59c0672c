// The manual pages of the broker, made from its command line and the schema of its settings: a command, a flag or a setting
// that is added stands in them after the next `npm run man`, and a test fails until then.
import { createCommandLine, type Handlers } from '../broker/cli/command-line.ts';
import { brokerSchema } from '../broker/config/broker-config.ts';
import { settingsOf } from '../src/config.ts';
import { escaped, formatEntry, formatSettings } from './troff.ts';

const program = 'fleetward-broker';
const columns = 400;

/** Any command may be there; none is ever run by asking for help. */
const handlers = new Proxy({}, { get: () => () => undefined }) as Handlers;

/** The help after these words. */
function helpOf(words: readonly string[]): Promise<string> {
  const parser = createCommandLine(handlers, '0', columns);
  return new Promise((resolve) => {
    void parser.parse([...words, '--help'], {}, (_fault: unknown, _flags: unknown, text: string) =>
      resolve(text),
    );
  });
}

interface Command {
  /** With its arguments: `account create <accountID>`. */
  readonly usage: string;
  readonly words: string;
}

const commandsIn = (help: string): readonly Command[] =>
  [...help.matchAll(new RegExp(`^ {2}${program} (\\S.*?) {2,}(\\S.*)$`, 'gm'))]
    .map((match) => ({ usage: (match[1] ?? '').trim(), words: (match[2] ?? '').trim() }))
    .filter(({ usage }) => /^[a-z]/.test(usage));

const wordsOf = ({ usage }: Command): readonly string[] =>
  usage.split(' ').filter((word) => /^[a-z]/.test(word));

/** Flags of a command that are no settings, with what they mean. */
function flagsIn(help: string): readonly { readonly term: string; readonly words: string }[] {
  const settings = new Set(settingsOf(brokerSchema).map(({ flag }) => `--${flag}`));
  return [...help.matchAll(/^ +(--[a-z-]+) {2,}(\S.*?)(?: {2,}\[.*)?$/gm)]
    .map((match) => ({ term: match[1] ?? '', words: (match[2] ?? '').trim() }))
    .filter(({ term }) => !settings.has(term) && term !== '--help' && term !== '--version');
}

async function formatCommand(command: Command): Promise<string> {
  const help = await helpOf(wordsOf(command));
  const parts = commandsIn(help.split('Options:')[0] ?? '');
  if (parts.length > 0) {
    const nested: string[] = [];
    for (const part of parts) nested.push(await formatCommand(part));
    return nested.join('');
  }
  const flags = flagsIn(help).filter(({ term }) => term !== '--json' && term !== '--config');
  const list = flags.length === 0 ? '' : `.RS\n${flags.map(formatEntry).join('')}.RE\n`;
  return `${formatEntry({ term: command.usage, words: command.words })}${list}`;
}

const head = `.\\" Made by \`npm run man\` from broker/cli/command-line.ts: do not edit.
.TH FLEETWARD-BROKER 8 "" "Fleetward" "System administration"
.SH NAME
fleetward\\-broker \\- MQTT broker, command ledger and HTTP service of a fleet
.SH SYNOPSIS
.B fleetward\\-broker
.I command
.RI [ options ]
.SH DESCRIPTION
Takes the events of vehicles over MQTT and acknowledges them once they are on disk, signs commands for them, and serves apps
over HTTP/JSON. The service
.B fleetward\\-broker.service
runs
.BR "fleetward\\-broker start" ;
the other commands are for people on the machine itself. Most of them may be used while the service runs. Those of root are
done as the user fleetward\\-broker, but for backup and restore.
.PP
Settings stand in
.IR /etc/fleetward\\-broker/broker.toml ,
see
.BR fleetward\\-broker.toml (5);
this file is taken where neither
.B \\-\\-config
nor
.B \\-\\-database
is given. Every setting is a flag too, with hyphens for dots and capitals:
.BR http.trustedProxies " is " \\-\\-http\\-trusted\\-proxies .
.SH COMMANDS
Every command takes
.BR \\-\\-help ,
and
.B \\-\\-version
prints the version.
.BI \\-\\-config " file"
names another file of settings, and
.B \\-\\-json
prints JSON for programs, where a command takes them.
`;

const tail = `.SH BACKUP
.B backup
copies what was committed at the moment it began; the service goes on acknowledging meanwhile. The file is complete and checked
when it has its name. It holds secrets of webhooks and the history of all vehicles: keep it as you keep the database. The signing
key is in it only with
.BR \\-\\-with\\-signing\\-key ;
without, keep the key file too, somewhere else. Events that were acknowledged after the backup are not in it, and vehicles do not
send them again.
.PP
To go back: stop the service, move the database away with its \\-wal and \\-shm,
.BR restore ,
start the service. Vehicles tell how far their counters are, so that commands work at once.
.PP
With PostgreSQL use
.BR pg_dump (1)
or
.BR pg_basebackup (1)
instead.
.SH WATCHING
With
.B metrics.port
set,
.I /metrics
on that port is for Prometheus; a dashboard for Grafana and rules for alerts are in
.IR /usr/share/doc/fleetward\\-broker/examples .
.I /livez
of the HTTP service answers while the loop runs;
.I /readyz
while the database takes writes, vehicles do not wait for the disk and the broker is not stopping. The watchdog of the service is
fed while no write hangs and every listener takes connections.
.SH SIGNALS
SIGTERM and SIGINT: takes nothing further, commits and answers what came in, ends within 5 seconds; a second one ends it at once.
.SH EXIT STATUS
0 good, 1 the audit log or the database does not hold, 64 wrong command line, 65 bad input, 66 not found, 69 a port is taken, 70 a
fault of ours, 74 the disk, 75 try again, 77 refused, 78 wrong settings.
.SH FILES
.TP
.I /etc/fleetward\\-broker/broker.toml
Settings.
.TP
.I /var/lib/fleetward\\-broker/fleetward.db
Database, with \\-wal and \\-shm while the service runs, and \\-lock, which it holds.
.TP
.I /var/lib/fleetward\\-broker/fleetward.db.signing\\-key.pem
Signs commands. No vehicle obeys another key.
.TP
.I /var/lib/fleetward\\-broker/fleetward.db.vapid\\-key.pem
Of Web Push. Without it every browser has to register again.
.SH EXAMPLES
.nf
fleetward\\-broker account create acme \\-\\-admin ann
fleetward\\-broker device code acme truck\\-17
fleetward\\-broker backup /var/backups/fleetward\\-2026\\-01\\-05.db
fleetward\\-broker check \\-\\-json
.fi
.PP
Ports below 1024 need a right that the service does not have; put a proxy in front, or give it in a drop\\-in:
.PP
.RS
.nf
[Service]
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
PrivateUsers=no
.fi
.RE
.SH SEE ALSO
.BR fleetward\\-broker.toml (5),
.BR journalctl (1),
.BR systemctl (1)
`;

/** fleetward-broker(8) as troff. */
export async function formatBrokerPage(): Promise<string> {
  const commands: string[] = [];
  for (const command of commandsIn((await helpOf([])).split('Options:')[0] ?? ''))
    commands.push(await formatCommand(command));
  return `${head}${commands.join('')}${tail}`;
}

const settingsHead = `.\\" Made by \`npm run man\` from broker/config/broker-config.ts: do not edit.
.TH FLEETWARD-BROKER.TOML 5 "" "Fleetward" "File formats"
.SH NAME
fleetward\\-broker.toml \\- settings of the broker of a fleet
.SH SYNOPSIS
.I /etc/fleetward\\-broker/broker.toml
.SH DESCRIPTION
A TOML 1.0 file. A key that is not known is an error. A setting is taken from its flag, else from its environment variable, else
from the file, else its default holds;
.B fleetward\\-broker config show \\-\\-origin
says which.
`;

/** fleetward-broker.toml(5) as troff. */
export function formatBrokerSettings(): string {
  const settings = settingsOf(brokerSchema).map(({ key, words }) => ({ key, words }));
  return `${settingsHead}${formatSettings(settings)}.SH SEE ALSO\n.BR ${escaped(program)} (8)\n`;
}

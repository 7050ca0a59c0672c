// Command line of `fleetward-broker ca`, a small certificate authority for the broker's listeners and its vehicles. Help
// and flags only.
import type { Argv } from 'yargs';

export type CaAction = 'init' | 'server' | 'device' | 'revoke' | 'list' | 'renew';

type Run = (flags: Readonly<Record<string, unknown>>, action: CaAction) => Promise<void>;

interface CommandOptions {
  /** Adds `--json` and the settings that an offline command understands. */
  readonly withJson: (parser: Argv) => Argv;
  readonly run: Run;
}

const text = (describe: string) => ({ describe, type: 'string', requiresArg: true }) as const;

const withFolder = (parser: Argv): Argv =>
  parser.option('dir', { ...text('Folder of the authority'), default: './fleetward-ca' });

const withKey = (parser: Argv, days: string): Argv =>
  withFolder(parser)
    .option('days', text(`Lifetime in days (${days})`))
    .option(
      'passphrase-file',
      text("File whose first line is the passphrase of the authority's key, mode 0600"),
    );

const positionals = (parser: Argv, isWanted: boolean): Argv =>
  parser
    .positional('accountID', { describe: 'The account', type: 'string', demandOption: isWanted })
    .positional('deviceID', { describe: 'The device', type: 'string', demandOption: isWanted });

/** Adds the commands below `ca`. */
export function caCommands(parser: Argv, { withJson, run }: CommandOptions): Argv {
  const on = (action: CaAction) => (flags: Readonly<Record<string, unknown>>) => run(flags, action);
  return parser
    .command(
      'init',
      'Make an authority: its key and certificate',
      (more) =>
        withKey(withJson(more), '1 to 7300, default 3650').option('name', {
          ...text('Common name of the authority'),
          default: 'Fleetward CA',
        }),
      on('init'),
    )
    .command(
      'server',
      'Make key and certificate of a listener',
      (more) =>
        withKey(withJson(more), '1 to 825, default 397').option('names', {
          ...text('DNS names and IP addresses that clients connect to, comma-separated'),
          demandOption: true,
        }),
      on('server'),
    )
    .command(
      'device <accountID> <deviceID>',
      'Make key and certificate of a vehicle; enrolled vehicles have theirs already',
      (more) => positionals(withKey(withJson(more), '1 to 3650, default 397'), true),
      on('device'),
    )
    .command(
      'revoke [accountID] [deviceID]',
      'Revoke all certificates of a device, or one by --serial or --cert; its session ends within seconds',
      (more) =>
        positionals(withJson(more), false)
          .option('serial', text('Serial number of a certificate that this broker recorded'))
          .option('cert', text('Certificate file (PEM), for one that is not recorded')),
      on('revoke'),
    )
    .command(
      'list',
      'List certificates, the first to expire on top',
      (more) => withFolder(withJson(more)),
      on('list'),
    )
    .command(
      'renew [file]',
      'Renew certificates of the folder that expire soon, or one of them, with the same keys',
      (more) =>
        withKey(withJson(more), 'as when it was made')
          .positional('file', {
            describe: 'A certificate of the folder, whenever it expires',
            type: 'string',
          })
          .option('within', { ...text('Renew those that expire within so many days'), default: '30' })
          .option('authority', { describe: 'Renew the authority itself', type: 'boolean' }),
      on('renew'),
    )
    .demandCommand(1, 'Name a subcommand: init, server, device, revoke, list or renew');
}

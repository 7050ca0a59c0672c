// The words of `fleetward-broker ca`: a small certificate authority for the broker's listeners and its vehicles. Help and
// flags only; nothing is decided here.
import type { Argv } from 'yargs';

export type CaAction = 'init' | 'server' | 'device' | 'revoke' | 'list' | 'renew';

type Run = (flags: Readonly<Record<string, unknown>>, action: CaAction) => Promise<void>;

interface Words {
  /** Adds `--json` and the settings that an offline command understands. */
  readonly withJson: (parser: Argv) => Argv;
  readonly run: Run;
}

const text = (describe: string) => ({ describe, type: 'string', requiresArg: true }) as const;

const withFolder = (parser: Argv): Argv =>
  parser.option('dir', { ...text('Folder of the authority'), default: './fleetward-ca' });

const withKey = (parser: Argv, days: string): Argv =>
  withFolder(parser)
    .option('days', text(`How long it is good, in days (${days})`))
    .option(
      'passphrase-file',
      text("File whose first line is the passphrase of the authority's key, mode 0600"),
    );

const positionals = (parser: Argv, isWanted: boolean): Argv =>
  parser
    .positional('accountID', { describe: 'The account', type: 'string', demandOption: isWanted })
    .positional('deviceID', { describe: 'The device', type: 'string', demandOption: isWanted });

/** Adds the commands below `ca`. */
export function caCommands(parser: Argv, { withJson, run }: Words): Argv {
  const on = (action: CaAction) => (flags: Readonly<Record<string, unknown>>) => run(flags, action);
  return parser
    .command(
      'init',
      'Make an authority: its key and certificate',
      (more) =>
        withKey(withJson(more), '1 to 7300, default 3650').option('name', {
          ...text('Its name, as people see it'),
          default: 'Fleetward CA',
        }),
      on('init'),
    )
    .command(
      'server',
      'Make key and certificate of a listener',
      (more) =>
        withKey(withJson(more), '1 to 825, default 397').option('names', {
          ...text('DNS names and IP addresses that clients connect to, with commas between them'),
          demandOption: true,
        }),
      on('server'),
    )
    .command(
      'device <accountID> <deviceID>',
      'Make key and certificate of a vehicle; those that enrol get theirs by themselves',
      (more) => positionals(withKey(withJson(more), '1 to 3650, default 397'), true),
      on('device'),
    )
    .command(
      'revoke [accountID] [deviceID]',
      'End all certificates of a device, or one by --serial or --cert; its session ends within seconds',
      (more) =>
        positionals(withJson(more), false)
          .option('serial', text('Serial number of one that this broker recorded'))
          .option('cert', text('File with the certificate (PEM), for one that it did not')),
      on('revoke'),
    )
    .command(
      'list',
      'List certificates, the one that ends first on top',
      (more) => withFolder(withJson(more)),
      on('list'),
    )
    .command(
      'renew [file]',
      'Extend certificates of the folder that end soon, with the same keys; or one of them',
      (more) =>
        withKey(withJson(more), 'as when it was made')
          .positional('file', { describe: 'A certificate of the folder, whenever it ends', type: 'string' })
          .option('within', { ...text('Days to the end of those that are extended'), default: '30' })
          .option('authority', { describe: 'Extend the authority itself', type: 'boolean' }),
      on('renew'),
    )
    .demandCommand(1, 'Say what to do with certificates: init, server, device, revoke, list or renew');
}

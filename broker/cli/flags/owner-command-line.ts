// Command line of `fleetward-broker owner`: owner keys and the signed list of authorized persons. Help and flags only.
import type { Argv } from 'yargs';

export type OwnerAction = 'create' | 'people' | 'sign' | 'rotate' | 'show' | 'restore';

type Run = (flags: Readonly<Record<string, unknown>>, action: OwnerAction) => Promise<void>;

const text = (describe: string) => ({ describe, type: 'string', requiresArg: true }) as const;

const withFolder = (parser: Argv): Argv =>
  parser
    .option('dir', { ...text('Folder of the owner'), default: './fleetward-owner' })
    .option('json', { describe: 'Print JSON for programs', type: 'boolean' });
const passphrase = text('File whose first line is the passphrase (12 characters or more), mode 0600');
const withKeys = (parser: Argv): Argv =>
  withFolder(parser)
    .option('keys', { ...text('How many owner keys, 1 to 5'), default: '1' })
    .option('needed', { ...text('How many of them must sign a list or the next set of keys'), default: '1' })
    .option('passphrase-file', { ...passphrase, demandOption: true });

const epilogue = `Run these commands on a machine that is not the service's, best one without a network. Nothing here reaches the service or a
vehicle: carry owner.json to them.

1. owner create          makes keys, prints their paper backup once, and the owner's key that each vehicle pins
2. owner people FILE     takes passkeys that the console exported and drafts the next list
3. owner sign            shows what changes, and signs it with --yes; with several keys run it once for each
4. copy owner.json to the service, or to a vehicle, beside its agent.toml

With 3 keys of which 2 are needed one may be lost or stolen: rotate to new ones, signed by two of the old.
owner.json holds no secret. Keep the key files, their passphrases and the paper apart.

Exit codes: 0 success, 64 wrong command line or not confirmed with --yes, 65 bad input or a file that is there, 66 no such file,
74 disk error, 77 wrong passphrase, 78 a key file that others can read.`;

/** Adds the commands below `owner`. */
export function ownerCommands(parser: Argv, run: Run): Argv {
  const on = (action: OwnerAction) => (flags: Readonly<Record<string, unknown>>) => run(flags, action);
  return parser
    .command('create', 'Make owner keys; prints their paper backup once', withKeys, on('create'))
    .command(
      'people [file]',
      'Draft the next list of persons from passkeys that the console exported; shows what changes',
      (more) =>
        withFolder(more)
          .positional('file', {
            describe: 'JSON: rpID, origins, persons (id, name, passkeys; role and vehicles if they differ)',
            type: 'string',
          })
          .option('remove', text('Ids of persons to remove, comma-separated'))
          .option('role', { ...text('New persons may: cut, unlock or both'), default: 'both' })
          .option(
            'vehicles',
            text('Vehicles of new persons, comma-separated: acme/truck-17, acme/bus-*, acme/*'),
          )
          .option('cut', text('Persons who must agree to an engine cut, 1 to 3'))
          .option('unlock', text('Persons who must agree to an unlock, 1 to 3'))
          .option('days', text('Days until the list ends, 1 to 1100; 365 for the first list')),
      on('people'),
    )
    .command(
      'sign',
      'Show what the draft changes, and sign it with --yes',
      (more) =>
        withFolder(more)
          .option('key', { ...text('Key file'), demandOption: true })
          .option('passphrase-file', { ...passphrase, demandOption: true })
          .option('yes', { describe: 'Sign what was shown', type: 'boolean' }),
      on('sign'),
    )
    .command('rotate', 'Make the next set of keys; the present set must sign it', withKeys, on('rotate'))
    .command(
      'show',
      'Show the key that vehicles pin, the persons, and what waits for a signature',
      withFolder,
      on('show'),
    )
    .command(
      'restore <paper>',
      'Make a key file from its paper backup',
      (more) =>
        withFolder(more)
          .positional('paper', {
            describe: 'File with the four lines; - reads standard input',
            type: 'string',
            demandOption: true,
          })
          .option('key', { ...text('New key file'), demandOption: true })
          .option('passphrase-file', { ...passphrase, demandOption: true }),
      on('restore'),
    )
    .example('$0 owner create --keys 3 --needed 2 --passphrase-file pass.txt', 'Three keys; two sign')
    .example('$0 owner people passkeys.json --vehicles acme/* --cut 2 --days 365', 'Draft a list')
    .example('$0 owner sign --key fleetward-owner/key-1-1.json --passphrase-file pass.txt --yes', 'Sign it')
    .epilogue(epilogue)
    .demandCommand(1, 'Name a subcommand: create, people, sign, rotate, show or restore');
}

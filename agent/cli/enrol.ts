// `fleetward-agent enrol`: its flags and its output. The work is in `enrolment.ts`. It never shows the secret.
import type { Argv } from 'yargs';
import { AppError } from '../../src/core/errors.ts';
import { ownerFingerprint, ownerPinPattern } from '../../src/core/persons/owner-document.ts';
import type { Enrolled, EnrolmentOptions } from '../enrolment/enrolment.ts';
import { text } from './options.ts';

type Flags = Readonly<Record<string, unknown>>;

/** Largest difference of the clocks that is not reported. */
const clockMostS = 120;

const epilogue = `Run it again with the same code when it was cut off, lost its connection or complained: until the code expires nothing
is lost. Events that wait in the outbox stay.

Exit codes: 0 enrolled, 64 wrong command line or mistyped code, 65 the code was used, was revoked or has expired,
66 there is no such code, 69 the broker signs no certificates, 74 disk error, 75 the broker cannot be reached,
77 the answer is not from the broker, 78 TLS trust or a configuration that was left unchanged.`;

/** @param standardConfig default path of the agent's file. */
export function withEnrol(parser: Argv, standardConfig: string): Argv {
  return parser
    .option('broker', {
      ...text('HTTP address of the broker, such as https://fleet.example.com'),
      demandOption: true,
    })
    .option('code', {
      type: 'string',
      nargs: 1,
      demandOption: true,
      describe: 'The one-time code; - reads it from standard input',
    })
    .option('config', {
      ...text('Configuration file; created, or changed in its broker and device only'),
      default: standardConfig,
    })
    .option(
      'secret-file',
      text('File for the secret; default: as configured, else `secret` beside the configuration'),
    )
    .option('ca', text('Certificate authority (PEM) to trust for https'))
    .option('certificate', { type: 'boolean', describe: 'Also ask for a client certificate (mutual TLS)' })
    .option('mqtt-url', text('MQTT address; default: as the broker sends it'))
    .option('user', text('As root: the user that the agent runs as (default: fleetward-agent)'))
    .option(
      'owner-key',
      text(
        "The owner's key, from its owner: cut and unlock then need the owner's persons. Never changed by the service",
      ),
    )
    .option('other-device', {
      type: 'boolean',
      describe: 'The configuration belongs to another vehicle, and its outbox was moved away',
    })
    .option('json', { type: 'boolean', describe: 'Print JSON for programs' })
    .example(
      '$0 enrol --broker https://fleet.example.com --code 7K3M-9QPX-0V4H-B2TD-W8RN-5F1J',
      'In the yard',
    )
    .epilogue(epilogue);
}

/** @throws AppError `usage`. */
function ownerKeyOf(typed: string | null): string | null {
  if (typed === null || new RegExp(ownerPinPattern).test(typed)) return typed;
  throw new AppError('usage', '--owner-key is no key of an owner', {
    hint: 'It has 43 characters, as `fleetward-broker owner show` prints it.',
  });
}

/** @param given what the composition root has found out. */
export function enrolmentOptionsOf(
  flags: Flags,
  given: Pick<EnrolmentOptions, 'code' | 'configFile' | 'isLocalBroker'>,
): EnrolmentOptions {
  const textOf = (name: string): string | null => {
    const value = flags[name];
    return typeof value === 'string' ? value : null;
  };
  const mqttUrl = textOf('mqtt-url');
  if (mqttUrl !== null && !/^mqtts?:\/\/[^/@\s"\\]+$/.test(mqttUrl)) {
    throw new AppError('usage', `--mqtt-url ${JSON.stringify(mqttUrl)} is no address`, {
      hint: 'Example: mqtts://fleet.example.com:8883.',
    });
  }
  return {
    ...given,
    secretFile: textOf('secret-file'),
    wantsCertificate: flags['certificate'] === true,
    mqttUrl,
    ownerKey: ownerKeyOf(textOf('owner-key')),
    isOtherDevice: flags['other-device'] === true,
  };
}

function clockWords(offsetS: number | null): readonly string[] {
  if (offsetS === null || Math.abs(offsetS) <= clockMostS) return [];
  const side = offsetS > 0 ? 'ahead of' : 'behind';
  return [
    `warning: this machine's clock is ${Math.abs(offsetS)} s ${side} the broker's; mqtts:// may refuse certificates. Set it (timedatectl).`,
  ];
}

interface Report {
  readonly json: object;
  readonly text: string;
}

/**
 * Result of the enrolment, and the remaining steps.
 * @param missing why the agent would not start yet; null when it would.
 */
export function reportEnrolled(enrolled: Enrolled, missing: string | null): Report {
  const {
    accountID,
    deviceID,
    url,
    publicKey,
    ownerKey,
    configFile,
    backupFile,
    files,
    changes,
    clockOffsetS,
  } = enrolled;
  const diff = changes.flatMap(({ before, after }) => [
    ...(before === null ? [] : [`- ${before}`]),
    `+ ${after}`,
  ]);
  const made = Object.values(files).filter((path) => path !== null);
  const lines = [
    `this unit is ${accountID}/${deviceID} and connects to ${url}`,
    `broker's public key, pinned: ${publicKey}`,
    ...(ownerKey === null
      ? []
      : [`owner's key, pinned: ${ownerFingerprint(ownerKey)}: compare these six groups with the owner`]),
    `written: ${made.join(', ')}`,
    changes.length === 0 ? `${configFile}: nothing to change` : `${configFile}:`,
    ...diff.map((line) => `  ${line}`),
    ...(backupFile === null ? [] : [`as it was: ${backupFile}`]),
    ...clockWords(clockOffsetS),
    ...(missing === null
      ? ['next: start the agent, or restart it: systemctl restart fleetward-agent']
      : [`still missing before the agent can start:\n${missing.replace(/^/gm, '  ')}`]),
  ];
  return { json: { ...enrolled, missing }, text: lines.join('\n') };
}

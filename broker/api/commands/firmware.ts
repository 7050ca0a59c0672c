// Firmware jobs: an administrator names a version and its URL, the unit decides. The broker never fetches the file, and
// accepts only hosts that the operator of the service has listed.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { refusalOf } from '../../core/commands/command-caps.ts';
import { firmwareContent, shownUrl } from '../../core/commands/firmware-file.ts';
import { isPlainUrl } from '../../core/notifications/delivery-targets.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import { findCapFacts, isPermitted } from '../../store/commands/command-caps.ts';
import { isRecorded, newestCommand, supersedeAndInsert } from '../../store/commands/commands.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { invalidAt } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';
import { type CommandView, commandAnswer, unsigned, viewCommand } from './command-view.ts';

export const defaultTtlS = 7 * 86_400;
const ttlMostS = 30 * 86_400;
/** Feature and state of a job in the ledger. */
const order = { feature: 'firmware', state: '1' } as const;

/** Members of a job: the file, and its waiting time. */
export const releaseMembers = {
  version: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9.+~_-]{0,63}$',
    description: 'Version of the file',
  }),
  url: Type.String({ minLength: 1, maxLength: 1000, description: 'https address of the file' }),
  sha256: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 of the file, 64 hexadecimal digits',
  }),
  ttl: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: ttlMostS,
      description: 'Seconds that it may wait for the unit',
    }),
  ),
} as const;

const exampleJob: CommandView = {
  commandID: '9e2d4c6b8a7f41d0b3c5e7f901234567',
  deviceID: 'truck-17',
  feature: 'firmware',
  state: '1',
  pendingState: '1',
  commandState: 'sent',
  expires: 1764288000,
  approvalID: '',
  verdict: null,
  ...unsigned,
  ...ok,
};

/** With the port written out: `URL` leaves out that of https. */
const withPort = (host: string): string => (host.includes(':') ? host : `${host}:443`);

/** @throws AppError `invalid_content` unless it is https at a listed host and port, without a user name or fragment. */
export function needAllowed(url: string, hosts: readonly string[]): void {
  const parsed = isPlainUrl(url) ? new URL(url) : null;
  const isPlain = parsed !== null && parsed.hash === '';
  if (isPlain && parsed.protocol === 'https:' && hosts.map(withPort).includes(withPort(parsed.host))) return;
  const message = 'must be an https address at a host and port that the service allows';
  throw invalidAt(
    '/url',
    message,
    'The operator of the service lists them in the setting firmware.hosts, as host for port 443 or as host:port; none are listed at first.',
  );
}

const firmware = operation({
  id: 'firmware',
  method: 'POST',
  path: '/command/firmware/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Commands',
  summary: 'Ask a unit to update itself',
  description: `Records a firmware job and sends it, signed, to the unit: at once when it is online, else when it connects, until \`ttl\`
seconds have passed (7 days without it). The service itself never fetches \`url\`, which must be https at a host of the
setting \`firmware.hosts\` (listed as \`host\` for port 443, or as \`host:port\`), without user name and fragment. \`sha256\` is that of the file.

The answer is that of a command, with \`feature\` \`firmware\`; follow it with \`getCommand\`. The unit reports it in events
64834 Config_Start (\`executing\`), 64835 Config_Complete (\`confirmed\`) and 64836 Config_Failed (\`refused\`, with the
reason) that carry the \`commandID\`. **A unit that runs fleetward-agent takes the archive of \`package:release\`, signed with the
release key that its installer has put on it**; one without that key answers Config_Start and Config_Failed, "this unit is
updated by its package manager". It downloads over a link that works and within its data budget, restarts only when it is parked with the
ignition off, and confirms only once the new release has shown that it works; otherwise the release before runs again. That may take days:
\`cancelCommand\` withdraws a job until the unit restarts for it. A newer job replaces an older one that has not ended; the
same job of the same user within 10 seconds is one job. Jobs count as commands (10 within a minute for a user).`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: Type.String({ description: 'The device' }),
      ...releaseMembers,
    },
    { additionalProperties: false },
  ),
  result: commandAnswer,
  errors: ['not_found', 'invalid_content', 'throttled'],
  effects: true,
  examples: {
    body: {
      deviceID: 'truck-17',
      version: '1.4.0',
      url: 'https://updates.example.com/fleetward-agent-1.4.0-arm64.tar.gz',
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
    result: exampleJob,
  },
  async run({ body, caller, source }, services) {
    const { deviceID, version, url, sha256, ttl = defaultTtlS } = body;
    const device = await needDevice(services, caller, deviceID);
    needAllowed(url, services.firmwareHosts);
    const asker = { accountID: caller.accountID, userID: caller.userID, atMs: services.clock.utcMs() };
    const content = firmwareContent({ version, url, sha256 });
    const row = await services.ledger.enact({
      device,
      statements: ({ commandID, issuedMs }) => {
        const expiresMs = issuedMs + ttl * 1000;
        const times = { issuedMs, expiresMs, sameSinceMs: issuedMs - 10_000 };
        const { deviceNo } = device;
        const job = { deviceNo, commandID, reason: '', issuer: caller.userID, content, ...order, ...times };
        const detail = { commandID, version, url: shownUrl(url), sha256 };
        const onlyIf = isRecorded(commandID);
        return [
          lockAccount(caller.accountID),
          ...supersedeAndInsert(job, isPermitted(asker, order, 'command')),
          auditEntry(
            services,
            { caller, source },
            { action: 'command.firmware', object: deviceID, detail, onlyIf },
          ),
        ];
      },
    });
    if (row !== null) return viewCommand(row);
    const known = await newestCommand(services.db, { deviceNo: device.deviceNo, feature: 'firmware' });
    const facts = await findCapFacts(services.db, asker);
    const refusal = facts === null ? null : refusalOf(facts, order);
    if (refusal !== null || known === null)
      throw refusal ?? new AppError('not_found', 'The device was deleted');
    return viewCommand(known);
  },
});

export const firmwareOperations = [firmware] as const;

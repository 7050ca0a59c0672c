// Import of devices with the secrets of the new ones, for a first delivery of units. A secret is shown once and never kept or
// logged. No device with a secret gets another: a repeated file shows nothing and locks no unit out.
import { Type } from 'typebox';
import {
  devicesWith,
  type FirstSecret,
  hasSecret,
  insertSecrets,
} from '../../store/devices/device-import.ts';
import { hashSecret, makeSecret } from '../../store/devices/device-secret.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import {
  countMembers,
  countsOf,
  createdBy,
  dryRunQuery,
  lineMembers,
  type Plan,
  planOf,
  writePlan,
} from './device-import.ts';

/** Each secret is an audit entry of its own in one batch. */
const linesMost = 500;

const secretLine = Type.Object({
  ...lineMembers,
  username: Type.String({ description: 'MQTT user name and client id; empty without a secret' }),
  secret: Type.Union([Type.String(), Type.Null()], {
    description: 'MQTT password of a device that this line has created; cannot be read again. Null otherwise',
  }),
});

interface IssuedSecret extends FirstSecret {
  readonly secret: string;
}

/** Writes the plan with secrets for the devices that it creates; gives those that count, by device. */
async function writeWithSecrets(
  services: ApiServices,
  actor: Actor,
  plan: Plan,
): Promise<ReadonlyMap<string, string>> {
  const { accountID } = actor.caller;
  const issued = createdBy(plan).map((deviceID): IssuedSecret => {
    const secret = makeSecret(services.entropy);
    return { deviceID, secret, secretHash: hashSecret(secret) };
  });
  const issuedS = Math.floor(services.clock.utcMs() / 1000);
  const further = [
    ...insertSecrets(accountID, issued, issuedS),
    ...issued.map((one) => {
      const onlyIf = hasSecret(accountID, one);
      return auditEntry(services, actor, { action: 'device.issuesecret', object: one.deviceID, onlyIf });
    }),
  ];
  await writePlan(services, actor, { plan, further });
  // Another request may have created one of them meanwhile: its secret counts, and ours is forgotten.
  const counting = await devicesWith(services.db, accountID, issued);
  return new Map(
    issued.flatMap(({ deviceID, secret }) => (counting.has(deviceID) ? [[deviceID, secret]] : [])),
  );
}

const importWithSecrets = operation({
  id: 'importDevicesWithSecrets',
  method: 'POST',
  path: '/device/importwithsecrets/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Create many devices from CSV, with their secrets',
  description: `Our addition: \`importDevices\` for a file of up to ${linesMost} lines, that gives every device which it creates an MQTT secret (256 random bits) and
**shows it this once** in its line; the service keeps a hash only. Each secret is an entry of the audit log, without the secret.

A device that is there already keeps what it has, and \`secret\` is null: no unit is cut off by an import. **Sending the file again shows no secret
and issues none.** After a lost answer issue new ones for these devices with \`issueDeviceSecret\`. An \`Idempotency-Key\` means nothing here,
because a secret is not kept for a second answer. With \`?dryRun=true\` nothing is written and no secret is issued.

All or nothing, columns and faults are as in \`importDevices\`.`,
  params: Type.Object({}),
  query: Type.Object(dryRunQuery, { additionalProperties: false }),
  body: Type.Object({ csv: Type.String({ description: 'The file' }) }, { additionalProperties: false }),
  textBody: { mediaType: 'text/csv', member: 'csv' },
  result: Type.Object({
    ...envelope,
    ...countMembers,
    lines: Type.Array(secretLine, { description: 'Every line, in the order of the file' }),
  }),
  errors: ['conflict', 'forbidden'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { csv: 'deviceID,deviceDriver\r\nvan-4,M. Roy\r\n' },
    result: {
      created: 1,
      updated: 0,
      unchanged: 0,
      failed: 0,
      lines: [
        {
          line: 2,
          deviceID: 'van-4',
          action: 'create',
          message: '',
          username: 'acme/van-4',
          secret: 'hV5mN0b1cXr8sQ2wE7tY4uI9oP3aD6fG1jK5lZ8xC0v',
        },
      ],
    },
  },
  async run({ body, query, caller, source }, services) {
    const plan = await planOf(services, caller, { csv: body.csv, linesMost });
    const isDry = query.dryRun === 'true';
    const secrets = isDry
      ? new Map<string, string>()
      : await writeWithSecrets(services, { caller, source }, plan);
    const lines = plan.map(({ line, deviceID, action, message }) => {
      const secret = secrets.get(deviceID) ?? null;
      const username = secret === null ? '' : `${caller.accountID}/${deviceID}`;
      return { line, deviceID, action, message, username, secret };
    });
    return { ...ok, ...countsOf(plan), lines };
  },
});

export const importSecretOperations = [importWithSecrets] as const;

// Settings of vehicles: for all vehicles of the account, and for one. They are checked against the same limits as on the
// vehicle; safety-relevant behaviour is not configurable and out of reach from here.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError, type ErrorDetail } from '../../../src/core/errors.ts';
import {
  mergeChanges,
  type SettingsChange,
  settingsChangeSchema,
} from '../../../src/core/settings/change.ts';
import { overlaySettings, standardSettings } from '../../../src/core/settings/settings.ts';
import { type DeviceConfigRow, readDeviceConfig } from '../../store/devices/device-configs.ts';
import {
  type AccountChoice,
  type Choice,
  isAccountAt,
  isDeviceAt,
  readAccountChoice,
  readDeviceChoice,
  saveAccountSettings,
  saveDeviceSettings,
} from '../../store/devices/vehicle-settings.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry, changesOf } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { envelope, epoch, ok } from '../base/shapes.ts';
import { requireConfigFits } from '../base/vehicle-config-size.ts';
import { needDevice } from '../base/visible-device.ts';

const revision = Type.Integer({
  minimum: 0,
  description: 'Grows with every change; 0: nothing was ever chosen',
});
const expected = Type.Optional(
  Type.Integer({
    minimum: 0,
    description: 'The revision that was read: refused when it is another one by now',
  }),
);

const accountView = Type.Object({ settings: settingsChangeSchema, revision, ...envelope });

const configView = Type.Object(
  {
    state: Type.Enum(['none', 'current', 'pending', 'failed', 'fault'], {
      description:
        '`none`: nothing was chosen; `current`: the vehicle holds it; `pending`: on its way; `failed`: the vehicle could not take it; `fault`: it cannot be made',
    }),
    wantedVersion: Type.Integer({ description: 'Version that the vehicle is to hold' }),
    heldVersion: Type.Integer({ description: "Version that it holds; 0: its installer's file alone" }),
    heldOn: epoch('Since when it has said so; 0 = never'),
    sentOn: epoch('When one was sent last; 0 = never'),
    failedVersion: Type.Integer({ description: 'Newest version that it could not take; 0 = none' }),
    failedOn: epoch('When it said so; 0 = never'),
    reason: Type.String({ description: 'Why it failed or cannot be made; empty when all is well' }),
  },
  { description: 'Where the configuration of the vehicle is' },
);

const deviceView = Type.Object({
  deviceID: Type.String({ description: 'The device' }),
  settings: settingsChangeSchema,
  revision,
  accountSettings: settingsChangeSchema,
  sentSettings: settingsChangeSchema,
  configuration: configView,
  ...envelope,
});

const exampleSettings: SettingsChange = { reporting: { movingS: 30, stoppedS: 900 } };
const exampleAccount: Static<typeof accountView> = { settings: exampleSettings, revision: 1, ...ok };
const exampleDevice: Static<typeof deviceView> = {
  deviceID: 'truck-17',
  settings: { reporting: { movingS: 5 } },
  revision: 2,
  accountSettings: exampleSettings,
  sentSettings: { reporting: { movingS: 5, stoppedS: 900 } },
  configuration: {
    state: 'current',
    wantedVersion: 3,
    heldVersion: 3,
    heldOn: 1_763_683_200,
    sentOn: 1_763_683_190,
    failedVersion: 0,
    failedOn: 0,
    reason: '',
  },
  ...ok,
};

/** @throws AppError `invalid_content` with a pointer to each setting that is unknown or out of its limits. */
function needSound(settings: SettingsChange): void {
  const verdict = overlaySettings(standardSettings, settings);
  if (verdict.kind === 'ok') return;
  const details: readonly ErrorDetail[] = verdict.faults.map(({ pointer, message }) => ({
    pointer: `/settings${pointer}`,
    message,
  }));
  throw new AppError('invalid_content', `${details[0]?.pointer} ${details[0]?.message}`, { details });
}

function changedMeanwhile(wanted: number | undefined, found: number): AppError {
  const message = `The settings are at revision ${found}, not ${wanted}: they were changed meanwhile; nothing was saved`;
  return new AppError('conflict', message, {
    details: [{ pointer: '/revision', message: `is not ${found}` }],
    hint: 'Read them again, and save your change with the revision that you read.',
  });
}

interface Facts {
  readonly account: AccountChoice;
  readonly own: Choice;
  readonly config: DeviceConfigRow;
}

type State = Static<typeof configView>['state'];

function stateOf({ account, own, config }: Facts): State {
  if (config.fault !== '') return 'fault';
  const isMade = config.accountRevision >= account.contentRevision && config.deviceRevision >= own.revision;
  const isChosen = config.version > 0 || account.contentRevision > 0 || own.revision > 0;
  if (!isChosen && config.heldVersion === 0) return 'none';
  if (!isMade) return 'pending';
  const isHeld = config.heldVersion === config.version;
  if (isHeld && (config.heldSha256 === '' || config.heldSha256 === config.sha256 || config.version === 0))
    return config.version === 0 ? 'none' : 'current';
  return config.failedVersion === config.version ? 'failed' : 'pending';
}

async function viewDevice(services: ApiServices, deviceID: string, deviceNo: number, caller: Caller) {
  const { db } = services;
  const [account, own, config] = await Promise.all([
    readAccountChoice(db, caller.accountID),
    readDeviceChoice(db, deviceNo),
    readDeviceConfig(db, deviceNo),
  ]);
  const state = stateOf({ account, own, config });
  const reason = state === 'fault' ? config.fault : state === 'failed' ? config.failedReason : '';
  return {
    deviceID,
    settings: own.settings,
    revision: own.revision,
    accountSettings: account.settings,
    sentSettings: mergeChanges(account.settings, own.settings),
    configuration: {
      state,
      wantedVersion: config.version,
      heldVersion: config.heldVersion,
      heldOn: epochSeconds(config.heldMs),
      sentOn: epochSeconds(config.sentMs),
      failedVersion: config.failedVersion,
      failedOn: epochSeconds(config.failedMs),
      reason,
    },
    ...ok,
  };
}

const meanings = `**What a setting does** stands with its member, with its limits and the value that holds without a choice
(\`default\`). Settings of one device are laid over those of the account, and both over what the installer wrote into the
vehicle's own file; a member that is not given is not chosen, and the layer below decides. Nothing that can stop a vehicle is
a setting: the rules of the engine cut-off stand in the vehicle and cannot be reached from here.

**How it reaches the vehicle**: signed, at once when it is connected, else when it comes back. The vehicle checks all of it,
tries it, and keeps it only when the service has acknowledged that it did; otherwise it goes back to what it had before, and
\`configuration\` says why.`;

const saving = `\`settings\` **replaces** what was chosen here: what is not in it is not chosen any more. With \`revision\` it is saved only if
they were not changed since they were read (422 \`conflict\` otherwise).`;

const getAccount = operation({
  id: 'getAccountSettings',
  method: 'GET',
  path: '/settings/account/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Devices',
  summary: 'Settings of all vehicles',
  description: `An addition to the interface: the settings that were chosen for all vehicles of the account.

${meanings}`,
  params: Type.Object({}),
  body: null,
  result: accountView,
  errors: [],
  effects: false,
  isConditional: true,
  examples: { result: exampleAccount },
  async run({ caller }, services) {
    const { settings, revision: at } = await readAccountChoice(services.db, caller.accountID);
    return { settings, revision: at, ...ok };
  },
});

/** Members of a choice by table and name. Ids of keys are personal data: only how many there are is recorded. */
const auditedMembers = (settings: SettingsChange): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([table, members]) =>
      Object.entries(members).map(([name, value]: [string, unknown]) => [
        `${table}.${name}`,
        typeof value === 'string' ? value.split(/[\s,]+/).filter((id) => id !== '').length : value,
      ]),
    ),
  );

/** The audit detail of a choice that replaces another: a member that is left out is not chosen any more. */
function settingChanges(before: SettingsChange, after: SettingsChange) {
  const [was, is] = [auditedMembers(before), auditedMembers(after)];
  const none = Object.fromEntries(Object.keys(was).map((name) => [name, null]));
  return changesOf(was, { ...none, ...is });
}

const saveAccount = operation({
  id: 'saveAccountSettings',
  method: 'POST',
  path: '/settings/saveaccount/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Choose settings of all vehicles',
  description: `An addition to the interface: chooses settings for all vehicles of the account.

${saving}

${meanings}`,
  params: Type.Object({}),
  body: Type.Object({ settings: settingsChangeSchema, revision: expected }, { additionalProperties: false }),
  result: accountView,
  errors: ['conflict'],
  effects: true,
  examples: { body: { settings: exampleSettings }, result: exampleAccount },
  async run({ body, caller, source }, services) {
    const { accountID } = caller;
    const { settings } = body;
    needSound(settings);
    await requireConfigFits(services, accountID, { settings });
    const atMs = Math.round(services.clock.utcMs());
    const write = { settings, revision: body.revision ?? null, atMs };
    const onlyIf = isAccountAt(accountID, write.revision);
    const before = (await readAccountChoice(services.db, accountID)).settings;
    const detail = settingChanges(before, settings);
    const audited = { action: 'settings.saveaccount', object: accountID, detail, onlyIf };
    const results = await services.db.write([
      auditEntry(services, { caller, source }, audited),
      ...saveAccountSettings(accountID, write),
    ]);
    const saved = await readAccountChoice(services.db, accountID);
    if (results.at(-1)?.changes !== 1) throw changedMeanwhile(body.revision, saved.revision);
    return { settings: saved.settings, revision: saved.revision, ...ok };
  },
});

const getDevice = operation({
  id: 'getDeviceSettings',
  method: 'GET',
  path: '/settings/device/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Devices',
  summary: 'Settings of one vehicle, and where its configuration is',
  description: `An addition to the interface: the settings that were chosen for this device, those of the account, both as they
are sent (\`sentSettings\`), and whether the vehicle holds them (\`configuration\`).

${meanings}`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  body: null,
  result: deviceView,
  errors: ['not_found'],
  effects: false,
  isConditional: true,
  examples: { result: exampleDevice },
  async run({ params, caller }, services) {
    const { deviceNo, deviceID } = await needDevice(services, caller, params.deviceID);
    return viewDevice(services, deviceID, deviceNo, caller);
  },
});

const saveDevice = operation({
  id: 'saveDeviceSettings',
  method: 'POST',
  path: '/settings/savedevice/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Choose settings of one vehicle',
  description: `An addition to the interface: chooses settings for one device, which are laid over those of the account.

${saving}

${meanings}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: Type.String({ description: 'The device' }),
      settings: settingsChangeSchema,
      revision: expected,
    },
    { additionalProperties: false },
  ),
  result: deviceView,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    body: { deviceID: 'truck-17', settings: { reporting: { movingS: 5 } } },
    result: exampleDevice,
  },
  async run({ body, caller, source }, services) {
    const { settings } = body;
    const { deviceNo, deviceID } = await needDevice(services, caller, body.deviceID);
    needSound(settings);
    const account = await readAccountChoice(services.db, caller.accountID);
    await requireConfigFits(services, caller.accountID, {
      settings: mergeChanges(account.settings, settings),
    });
    const atMs = Math.round(services.clock.utcMs());
    const write = { settings, revision: body.revision ?? null, atMs };
    const onlyIf = isDeviceAt(deviceNo, write.revision);
    const before = (await readDeviceChoice(services.db, deviceNo)).settings;
    const detail = settingChanges(before, settings);
    const audited = { action: 'settings.savedevice', object: deviceID, detail, onlyIf };
    const results = await services.db.write([
      auditEntry(services, { caller, source }, audited),
      ...saveDeviceSettings(deviceNo, write),
    ]);
    if (results.at(-1)?.changes !== 1) {
      // Throws `not_found` when it was deleted meanwhile.
      await needDevice(services, caller, body.deviceID);
      throw changedMeanwhile(body.revision, (await readDeviceChoice(services.db, deviceNo)).revision);
    }
    return viewDevice(services, deviceID, deviceNo, caller);
  },
});

export const vehicleSettingOperations = [getAccount, saveAccount, getDevice, saveDevice] as const;

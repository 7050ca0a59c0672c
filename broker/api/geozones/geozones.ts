// Geozones: create, change, delete. A geozone concerns every device of the account, so only users without group limits
// change one. A zone's automations are executed by the vehicle, never by the service.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { type ZoneSwitch, zoneBox } from '../../../src/core/geo/geozone.ts';
import { sql } from '../../../src/sql.ts';
import { findAccount, lockAccount } from '../../store/accounts/accounts.ts';
import { commandsAll } from '../../store/base/scope.ts';
import { countOwnedUnits } from '../../store/commands/owner-documents.ts';
import { touchConfigs } from '../../store/devices/vehicle-settings.ts';
import {
  countGeozones,
  cuttingSwitches,
  deleteGeozone,
  findGeozone,
  type GeozoneKey,
  geozonesMost,
  insertGeozone,
  isGeozone,
  isGeozoneAt,
  mayInsertGeozone,
  maySwitch,
  restrictingSwitches,
  updateGeozone,
} from '../../store/geozones/geozones.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry, changesOf } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { requireZoneFits } from '../base/vehicle-config-size.ts';
import { geozoneAfter, newGeozone } from './geozone-input.ts';
import {
  type GeozoneBody,
  geozoneID,
  geozoneMembers,
  type SavedGeozone,
  savedGeozone,
  switchMembers,
} from './geozone-shapes.ts';
import { exampleGeozone, exampleNewGeozone, geozoneMeanings } from './geozone-texts.ts';
import { mayUpdateGeozones, needWholeAccount, unknownZone, viewGeozone } from './geozone-views.ts';

/** Retries of a change when another request changed the zone in between. */
const triesMost = 5;

/** @throws AppError `conflict` when the zone would cut engines in an account where a cut needs a second user. */
async function needTwo(
  services: ApiServices,
  accountID: string,
  switches: readonly ZoneSwitch[],
): Promise<void> {
  const cutting = cuttingSwitches.filter((name) => switches.includes(name));
  if (cutting.length === 0 || (await findAccount(services.db, accountID))?.needsApproval !== true) return;
  const message = 'cannot be on where an engine cut needs a second user';
  const details = cutting.map((name) => ({ pointer: `/${switchMembers[name]}`, message }));
  throw new AppError('conflict', `${details[0]?.pointer} ${message}: the geozone was left as it was`, {
    details,
    hint: 'Cut the engine of one vehicle at /command/feature; another user approves it there.',
  });
}

/** @throws AppError `forbidden` when the caller was limited to groups meanwhile. */
async function needStillAll({ db }: ApiServices, caller: Caller): Promise<void> {
  const rows = await db.read(sql`SELECT 1 AS there WHERE ${commandsAll(caller)}`);
  if (rows.length === 0)
    throw new AppError(
      'forbidden',
      'Your rights changed meanwhile: you may no longer change geozones; nothing was changed',
    );
}

/** A geozone as its changes are recorded. */
function recorded(
  geozoneID: string,
  content: Omit<Parameters<typeof viewGeozone>[0], 'geozoneID'>,
): Readonly<Record<string, unknown>> {
  const { geozoneWarning: _derived, ...members } = viewGeozone({ geozoneID, ...content }, true);
  return members;
}

/** Creates or changes a geozone; `mayCreate` false: an unknown one is not found. */
async function saveGeozone(
  services: ApiServices,
  actor: Actor,
  { body, mayCreate }: { readonly body: GeozoneBody; readonly mayCreate: boolean },
): Promise<SavedGeozone> {
  const { geozoneID: id, ...sent } = body;
  needWholeAccount(actor.caller);
  const key: GeozoneKey = { accountID: actor.caller.accountID, geozoneID: id };
  for (let tries = 0; tries < triesMost; tries++) {
    const known = await findGeozone(services.db, key);
    if (known === null && !mayCreate) throw unknownZone(id);
    const content = geozoneAfter(known ?? newGeozone, body);
    await requireZoneFits(services, key.accountID, { geozoneID: id, ...content, version: 0 });
    const atMs = Math.round(services.clock.utcMs());
    const may = commandsAll(actor.caller);
    const write = { key, content, box: zoneBox(content.zone), atMs, onlyIf: may };
    const action = known === null ? 'geozone.create' : 'geozone.update';
    const detail = known === null ? sent : changesOf(recorded(id, known), recorded(id, content));
    const isStill = known === null ? mayInsertGeozone(key) : isGeozoneAt(key, known.version);
    const onlyIf = sql`${isStill} AND ${may} AND ${maySwitch(key, content.switches)}`;
    const [, , change] = await services.db.write([
      // Orders this batch before or after a change of the second-person rule.
      lockAccount(key.accountID),
      auditEntry(services, actor, { action, object: id, detail, onlyIf }),
      known === null ? insertGeozone(write) : updateGeozone(write, known.version),
      touchConfigs(key.accountID, write.atMs),
    ]);
    if ((change?.changes ?? 0) > 0) {
      const isRestricting = restrictingSwitches.some((name) => content.switches.includes(name));
      const geozoneRefusedBy = isRestricting ? await countOwnedUnits(services.db, key.accountID) : 0;
      return {
        ...viewGeozone({ geozoneID: id, ...content }, mayUpdateGeozones(actor.caller)),
        geozoneRefusedBy,
      };
    }
    await needStillAll(services, actor.caller);
    await needTwo(services, key.accountID, content.switches);
    if (known === null && (await countGeozones(services.db, key.accountID)) >= geozonesMost) {
      throw new AppError('conflict', `The account has ${geozonesMost} geozones, which is the most`, {
        hint: 'Delete geozones that are no longer used.',
      });
    }
  }
  throw new AppError(
    'unavailable',
    `Geozone ${id} was changed by other requests during ${triesMost} attempts; nothing was changed`,
    {
      retryAfterS: 1,
    },
  );
}

const membersText = `**Members.** Points are sent as \`geozonePoint<n>lat\` and \`geozonePoint<n>lng\` (text, always both)
or as \`geozonePoint<n>\` in the form of the answer; empty text takes a point away; five decimals are kept. Booleans may be
the texts \`true\`, \`false\`, \`1\`, \`0\` too, radius and type decimal text too. \`...UnLock\` and \`...Unlock\` are the same
member. All may stand flat or under a root member \`data\`. Others are refused (422). \`geozoneID\` is a name as people write it,
for example \`Main depot\`; in a path it is percent-encoded (\`Main%20depot\`). \`geozoneDescription\`,
\`geozoneAlertEntry\` and \`geozoneAlertExit\` are accepted as aliases.`;

const create = operation({
  id: 'createGeozone',
  method: 'POST',
  path: '/geozone/creategeozone/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Geozones',
  summary: 'Create a geozone, or change it',
  description: `Creates a geozone. Only \`geozoneID\` is needed: radius 500, type 3, every boolean false, every point
\`0.00000,0.00000\`, empty display name; all members of updategeozone may be sent with it. When the account has a geozone
of that id already, the given members are changed as by updategeozone, as with devices. An account has at most
${geozonesMost} geozones (422 \`conflict\`).

${membersText}

${geozoneMeanings}`,
  params: Type.Object({}),
  body: Type.Object(geozoneMembers, { additionalProperties: false }),
  result: savedGeozone,
  errors: ['conflict', 'unavailable'],
  effects: true,
  examples: { body: { geozoneID: 'depot' }, result: { ...exampleNewGeozone, geozoneRefusedBy: 0 } },
  run: ({ body, caller, source }, services) =>
    saveGeozone(services, { caller, source }, { body, mayCreate: true }),
});

const update = operation({
  id: 'updateGeozone',
  method: 'POST',
  path: '/geozone/updategeozone/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Geozones',
  summary: 'Change a geozone',
  description: `Changes the given members of a geozone and leaves the others. An unknown geozone answers 404.

${membersText}

${geozoneMeanings}`,
  params: Type.Object({}),
  body: Type.Object(geozoneMembers, { additionalProperties: false }),
  result: savedGeozone,
  errors: ['not_found', 'conflict', 'unavailable'],
  effects: true,
  examples: {
    body: {
      geozoneID: 'depot',
      geozoneDisplayName: 'Depot',
      geozoneAlertEntry: true,
      geozonePoint1lat: '43.65000',
      geozonePoint1lng: '-79.35000',
      geozonePoint2lat: '43.65000',
      geozonePoint2lng: '-79.34000',
      geozonePoint3lat: '43.66000',
      geozonePoint3lng: '-79.34000',
      geozonePoint4lat: '43.66000',
      geozonePoint4lng: '-79.35000',
    },
    result: { ...exampleGeozone, geozoneRefusedBy: 0 },
  },
  run: ({ body, caller, source }, services) =>
    saveGeozone(services, { caller, source }, { body, mayCreate: false }),
});

const remove = operation({
  id: 'deleteGeozone',
  method: 'POST',
  path: '/geozone/deletegeozone/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Geozones',
  summary: 'Delete a geozone',
  description: `Deletes the geozone. Records of events keep its id; its names are then empty there. An unknown geozone
answers 404, so a repeated call does too.`,
  params: Type.Object({}),
  body: Type.Object({ geozoneID }, { additionalProperties: false }),
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { body: { geozoneID: 'old-yard' } },
  async run({ body, caller, source }, services) {
    const key: GeozoneKey = { accountID: caller.accountID, geozoneID: body.geozoneID };
    needWholeAccount(caller);
    const may = commandsAll(caller);
    const onlyIf = sql`${isGeozone(key)} AND ${may}`;
    const audited = { action: 'geozone.delete', object: body.geozoneID, onlyIf };
    const [, change] = await services.db.write([
      auditEntry(services, { caller, source }, audited),
      deleteGeozone(key, may),
      touchConfigs(key.accountID, Math.round(services.clock.utcMs())),
    ]);
    if ((change?.changes ?? 0) === 0) {
      await needStillAll(services, caller);
      throw unknownZone(body.geozoneID);
    }
    return ok;
  },
});

export const geozoneOperations = [create, update, remove] as const;

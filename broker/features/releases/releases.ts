// Releases of the units' program, staged by groups. A release names a signed archive, as a firmware job does; nothing is uploaded here and the service
// never fetches it: each unit checks the signature by the key that its installer put on it.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { hexId } from '../../../src/core/ids.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { invalidAt, lineText } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { defaultTtlS, needAllowed, releaseMembers } from '../../api/commands/firmware.ts';
import { shownUrl } from '../../core/commands/firmware-file.ts';
import { findGroup, groupDevicesMost } from '../../store/accounts/groups.ts';
import { insertRelease, isStaged, listReleases, listStages, releaseLimits } from './release-statements.ts';
import { countUnits } from './release-units.ts';
import {
  countedRelease,
  exampleRelease,
  exampleStages,
  listedRelease,
  needRelease,
  viewCounted,
  viewListed,
} from './release-views.ts';

/** @throws AppError `invalid_content` for a group that is named twice, or that the account does not have. */
async function needGroups({ db }: ApiServices, accountID: string, groups: readonly string[]): Promise<void> {
  for (const [at, groupID] of groups.entries()) {
    const message =
      groups.indexOf(groupID) < at
        ? 'names a group twice'
        : (await findGroup(db, { accountID, groupID })) === null
          ? 'is no group of the account'
          : null;
    if (message === null) continue;
    const pointer = `/stages/${at}`;
    throw invalidAt(pointer, message);
  }
}

const create = operation({
  id: 'createRelease',
  method: 'POST',
  path: '/release/create/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Releases',
  summary: 'Make a release that is staged by groups',
  description: `Keeps what is to be installed, in which order of groups, and sends nothing: \`startReleaseStage\` begins each stage. File and
address are those of \`firmware\`, with the same conditions: an archive of \`package:release\`, signed, at a host of the setting \`firmware.hosts\`;
nothing is uploaded, and units take what bears the signature of their release key only.

\`stages\` names 1 to ${releaseLimits.stagesMost} groups (of at most ${groupDevicesMost} devices each). A device belongs to the first stage with a group of it. \`stopAfter\` failed units
(1 without it: refused, expired, or outcome unknown) stop the release by itself. An account has at most ${releaseLimits.openMost} releases that have not
ended, and the newest ${releaseLimits.keptMost} are kept.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      ...releaseMembers,
      stages: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        minItems: 1,
        maxItems: releaseLimits.stagesMost,
        description: 'Group ids, in the order of the stages',
      }),
      stopAfter: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 5000, description: 'Failed units that stop it; 1 without it' }),
      ),
      note: Type.Optional(lineText(200, 'For people')),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ ...envelope, release: listedRelease }),
  errors: ['invalid_content', 'conflict'],
  effects: true,
  examples: {
    body: {
      version: '1.4.0',
      url: exampleRelease.url,
      sha256: exampleRelease.sha256,
      stages: ['pilot', 'north'],
      note: exampleRelease.note,
    },
    result: {
      release: {
        ...exampleRelease,
        releaseState: 'ready',
        stages: exampleStages.map((one) => ({ ...one, started: 0, startedBy: '' })),
      },
    },
  },
  async run({ body, caller, source }, services) {
    const { db, clock, entropy, firmwareHosts } = services;
    const { accountID, userID } = caller;
    const { version, url, sha256, ttl = defaultTtlS, stages, stopAfter = 1, note = '' } = body;
    needAllowed(url, firmwareHosts);
    await needGroups(services, accountID, stages);
    const releaseID = hexId(entropy.bytes(16));
    const createdMs = Math.round(clock.utcMs());
    const release = { releaseID, accountID, version, url, sha256, note, ttlS: ttl, stopAfter };
    const detail = { version, url: shownUrl(url), sha256, stages, stopAfter };
    const audited = { action: 'release.create', object: releaseID, detail, onlyIf: isStaged(releaseID) };
    const [inserted] = await db.write([
      ...insertRelease({ ...release, createdBy: userID, createdMs, groups: stages }),
      auditEntry(services, { caller, source }, audited),
    ]);
    if (inserted?.changes !== 1) {
      throw new AppError(
        'conflict',
        `The account has ${releaseLimits.openMost} releases that have not ended`,
        {
          hint: 'Stop one, or wait until it is done.',
        },
      );
    }
    const row = await needRelease(services, accountID, releaseID);
    return { ...ok, release: viewListed(row, await listStages(db, accountID)) };
  },
});

const list = operation({
  id: 'getReleases',
  method: 'GET',
  path: '/release/list/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Releases',
  summary: 'List releases',
  description: `The newest ${releaseLimits.keptMost} of the account, newest first, with their stages; \`getRelease\` counts units. \`hosts\` are those that
files may lie at: the operator of the service lists them.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    releases: Type.Array(listedRelease, { description: 'Newest first' }),
    hosts: Type.Array(Type.String(), { description: 'Hosts that files may lie at' }),
  }),
  errors: [],
  effects: false,
  examples: {
    result: { releases: [{ ...exampleRelease, stages: exampleStages }], hosts: ['updates.example.com'] },
  },
  async run({ caller: { accountID } }, { db, firmwareHosts }) {
    const [rows, stages] = await Promise.all([listReleases(db, accountID), listStages(db, accountID)]);
    return { ...ok, releases: rows.map((row) => viewListed(row, stages)), hosts: [...firmwareHosts] };
  },
});

const get = operation({
  id: 'getRelease',
  method: 'GET',
  path: '/release/get/{releaseID}/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Releases',
  summary: 'Show one release with its progress',
  description: `How many units of each stage wait for their job, have one under way, run the version, have failed, or had it withdrawn. A unit
stands as its job in the ledger does; a further order of the same file for it by \`firmware\` counts in its place.`,
  params: Type.Object({ releaseID: Type.String({ description: 'The release' }) }),
  body: null,
  result: Type.Object({ ...envelope, release: countedRelease }),
  errors: ['not_found'],
  effects: false,
  examples: {
    params: { releaseID: exampleRelease.releaseID },
    result: {
      release: {
        ...exampleRelease,
        stages: exampleStages.map((one) => ({
          ...one,
          units: one.started > 0 ? 2 : 0,
          waiting: 0,
          underWay: one.started > 0 ? 1 : 0,
          done: one.started > 0 ? 1 : 0,
          failed: 0,
          withdrawn: 0,
        })),
      },
    },
  },
  async run({ params: { releaseID }, caller: { accountID } }, services) {
    const row = await needRelease(services, accountID, releaseID);
    const [stages, counts] = await Promise.all([
      listStages(services.db, accountID),
      countUnits(services.archive, row.releaseNo),
    ]);
    return { ...ok, release: viewCounted(row, stages, counts) };
  },
});

export const releaseOperations = [create, list, get] as const;

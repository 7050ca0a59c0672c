// Stages of a release: begin the next one, stop the whole, and how each unit stands.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { lineText } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import { pageLimits, pageOf, pageSize } from '../../api/base/paging.ts';
import { envelope, epoch, ok, text } from '../../api/base/shapes.ts';
import { releaseRollout } from './release-rollout.ts';
import { mayStart, mayStop, startStage, stopRelease } from './release-statements.ts';
import { listUnits, type UnitRow, unitStates } from './release-units.ts';
import { exampleRelease, needRelease, phaseOf, type UnitPhase, unitPhases } from './release-views.ts';

const start = operation({
  id: 'startReleaseStage',
  method: 'POST',
  path: '/release/startstage/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Releases',
  summary: 'Begin the next stage of a release',
  description: `Every device that the group of the stage has now, and that no earlier stage had, gets a firmware job as \`firmware\` makes it, some twenty a
second, and the answer does not wait for them; a unit that reported the version already gets none. Jobs of a release count in no limit of commands. \`stage\` is the number of the
stage that follows those begun, so that of two administrators at once the second one is refused with 422 \`conflict\`, as is a release that was
stopped or whose group was deleted. An earlier stage need not have ended.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      releaseID: Type.String({ maxLength: 64, description: 'The release' }),
      stage: Type.Integer({ minimum: 1, maximum: 1000, description: 'The stage to begin' }),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    units: Type.Integer({ minimum: 0, description: 'Devices of the stage' }),
  }),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { releaseID: exampleRelease.releaseID, stage: 1 }, result: { units: 2 } },
  async run({ body: { releaseID, stage }, caller, source }, services) {
    const { db, clock } = services;
    const { accountID, userID } = caller;
    const { version } = await needRelease(services, accountID, releaseID);
    const beginning = { accountID, releaseID, stage, by: userID, source, atMs: Math.round(clock.utcMs()) };
    const audited = {
      action: 'release.startstage',
      object: releaseID,
      detail: { version, stage },
      onlyIf: mayStart(beginning),
    };
    const results = await db.write([
      auditEntry(services, { caller, source }, audited),
      ...startStage(beginning),
    ]);
    if (results.at(-1)?.changes !== 1) {
      throw new AppError('conflict', `Stage ${stage} of the release cannot begin now; nothing was sent`, {
        hint: 'Look at it again: it was stopped, another stage is next, or the group of the stage was deleted.',
      });
    }
    services.of(releaseRollout).wake();
    return { ...ok, units: results[1]?.changes ?? 0 };
  },
});

const stop = operation({
  id: 'stopRelease',
  method: 'POST',
  path: '/release/stop/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Releases',
  summary: 'Stop a release',
  description: `For good: no further stage begins, no further job is made, and jobs that have not ended are withdrawn, as by \`cancelCommand\`; a unit that
restarts for its job already goes on, and the release before runs again there if the new one does not prove itself. Units that run the
version keep it. 422 \`conflict\` when it has ended.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      releaseID: Type.String({ maxLength: 64, description: 'The release' }),
      reason: Type.Optional(lineText(200, 'Why, for the record')),
    },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { releaseID: exampleRelease.releaseID, reason: 'Two units lost their receiver' } },
  async run({ body: { releaseID, reason = '' }, caller, source }, services) {
    const { db, clock } = services;
    const key = { accountID: caller.accountID, releaseID };
    const { version } = await needRelease(services, caller.accountID, releaseID);
    const audited = {
      action: 'release.stop',
      object: releaseID,
      detail: { version, reason },
      onlyIf: mayStop(key),
    };
    const results = await db.write([
      auditEntry(services, { caller, source }, audited),
      stopRelease(key, { by: caller.userID, reason, atMs: Math.round(clock.utcMs()) }),
    ]);
    if (results.at(-1)?.changes !== 1)
      throw new AppError('conflict', 'The release has ended already; nothing was changed');
    services.of(releaseRollout).wake();
    return ok;
  },
});

const unit = Type.Object({
  deviceID: text('The device'),
  deviceDisplayName: text('Its name'),
  stage: Type.Integer({ minimum: 1, description: 'Its stage' }),
  unitState: Type.Enum([...unitStates], {
    description: '`waiting`: no job yet; `current`: it ran the version already; else the state of its job',
  }),
  phase: Type.Enum([...unitPhases], { description: 'What the state counts as' }),
  detail: text('Why it waits or has failed, as the unit wrote it'),
  updated: epoch('When the state changed'),
  commandID: Type.Union([Type.String(), Type.Null()], { description: 'Its job; null without one' }),
  agentVersion: text('What the unit reported that it runs; empty: nothing'),
  agentSince: epoch('Since when; 0 = unknown'),
  online: Type.Boolean({ description: 'Whether it is connected' }),
});

const viewUnit = (row: UnitRow): Static<typeof unit> => ({
  deviceID: row.deviceID,
  deviceDisplayName: row.deviceName || row.deviceID,
  stage: row.stage,
  unitState: row.state,
  phase: phaseOf[row.state],
  detail: row.detail,
  updated: epochSeconds(row.changedMs),
  commandID: row.commandID,
  agentVersion: row.agentVersion,
  agentSince: epochSeconds(row.agentSinceMs),
  online: row.isOnline,
});

const statesOf = (phase: UnitPhase | undefined) =>
  phase === undefined ? null : unitStates.filter((state) => phaseOf[state] === phase);

const units = operation({
  id: 'getReleaseUnits',
  method: 'GET',
  path: '/release/units/{releaseID}/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Releases',
  summary: 'List the units of a release',
  description: `Units of the stages that were begun, in the order of device ids, each with the state of its job, its age, and the reason of a failure as the
unit wrote it. \`?stage=\` and \`?phase=\` choose. \`?limit=\` (1 to ${pageLimits.most}, ${pageLimits.usual} without it) gives that many; while \`more\` is true send \`next\` back as
\`?cursor=\`.`,
  params: Type.Object({ releaseID: Type.String({ description: 'The release' }) }),
  query: Type.Object(
    {
      stage: Type.Optional(Type.String({ pattern: '^[0-9]{1,3}$', description: 'Of this stage only' })),
      phase: Type.Optional(Type.Enum([...unitPhases], { description: 'Of this phase only' })),
      limit: Type.Optional(
        Type.String({ pattern: '^[0-9]{1,3}$', description: `Page size, 1 to ${pageLimits.most}` }),
      ),
      cursor: Type.Optional(
        Type.String({ pattern: idPatternSource, description: '`next` of the page before' }),
      ),
    },
    { additionalProperties: false },
  ),
  body: null,
  result: Type.Object({
    ...envelope,
    units: Type.Array(unit, { description: 'In the order of their ids' }),
    more: Type.Boolean({ description: 'Whether there are further ones' }),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'The cursor of the next page; null at the end',
    }),
  }),
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: {
    params: { releaseID: exampleRelease.releaseID },
    result: {
      units: [
        {
          deviceID: 'truck-17',
          deviceDisplayName: 'Truck 17',
          stage: 1,
          unitState: 'executing',
          phase: 'underWay',
          detail: '',
          updated: 1763683320,
          commandID: '9e2d4c6b8a7f41d0b3c5e7f901234567',
          agentVersion: '1.3.2',
          agentSince: 1762683320,
          online: true,
        },
      ],
    },
  },
  async run({ params: { releaseID }, query, caller }, services) {
    const { releaseNo } = await needRelease(services, caller.accountID, releaseID);
    const limit = pageSize(query.limit);
    const rows = await listUnits(services.archive, {
      releaseNo,
      stage: query.stage === undefined ? null : Number(query.stage),
      states: statesOf(query.phase),
      after: query.cursor ?? '',
      limit: limit + 1,
    });
    const { page, more, next } = pageOf(rows, limit, ({ deviceID }) => deviceID);
    return { ...ok, units: page.map(viewUnit), more, next };
  },
});

export const releaseStageOperations = [start, stop, units] as const;

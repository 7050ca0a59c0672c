// What a release looks like in answers: itself, its stages, and how many units of each stage stand how.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { count, epoch, text } from '../../api/base/shapes.ts';
import { shownUrl } from '../../core/commands/firmware-file.ts';
import { findRelease, type StageRow } from './release-statements.ts';
import type { ReleaseRow } from './release-tables.ts';
import type { StateCount, UnitState } from './release-units.ts';

/** Where a unit is in its stage, for counts and filters. */
export const unitPhases = ['waiting', 'underWay', 'done', 'failed', 'withdrawn'] as const;
export type UnitPhase = (typeof unitPhases)[number];

/** Phase of each state. */
export const phaseOf: Readonly<Record<UnitState, UnitPhase>> = {
  waiting: 'waiting',
  current: 'done',
  requested: 'underWay',
  sent: 'underWay',
  received: 'underWay',
  armed: 'underWay',
  executing: 'underWay',
  confirmed: 'done',
  refused: 'failed',
  expired: 'failed',
  unknown: 'failed',
  superseded: 'withdrawn',
  cancelled: 'withdrawn',
};

const stage = Type.Object({
  stage: Type.Integer({ minimum: 1, description: 'Number of the stage' }),
  groupID: text('Its group'),
  groupDevices: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: 'Devices that the group has now; null: the group was deleted',
  }),
  started: epoch('When it was begun; 0 = it was not'),
  startedBy: text('User who began it; empty before'),
});

/** A stage with its units. */
export const countedStage = Type.Object({
  ...stage.properties,
  units: count('Units of the stage: the devices that its group had when it was begun'),
  waiting: count('Units without a job yet'),
  underWay: count('Units whose job has not ended'),
  done: count('Units that run the version: their job was confirmed, or they ran it already'),
  failed: count('Units that refused, let the job expire, or whose outcome is unknown'),
  withdrawn: count('Units whose job was withdrawn or replaced'),
});

/** Members of a release besides its stages. */
const members = {
  releaseID: text('Names the release'),
  version: text('Version of the file'),
  url: text('Address of the file, without what may be a key to it'),
  sha256: text('SHA-256 of the file'),
  note: text('What people wrote about it'),
  ttl: Type.Integer({ minimum: 60, description: 'Seconds that a job may wait for its unit' }),
  stopAfter: Type.Integer({ minimum: 1, description: 'Failed units that stop it' }),
  releaseState: Type.Enum(['ready', 'running', 'stopping', 'stopped', 'done'], {
    description:
      '`ready`: no stage was begun; `stopping`: its jobs are being withdrawn; `done`: every job of the last stage has ended',
  }),
  createdBy: text('User who made it'),
  created: epoch('When it was made'),
  stoppedBy: text('User who stopped it; empty: nobody, or the service'),
  stoppedFor: Type.Enum(['', 'user', 'failures'], {
    description: 'Why it was stopped; `failures`: by the service',
  }),
  stopReason: text('What the user wrote who stopped it'),
  ended: epoch('When it was stopped or done; 0 = it was not'),
} as const;

export const listedRelease = Type.Object({
  ...members,
  stages: Type.Array(stage, { description: 'In their order' }),
});
export const countedRelease = Type.Object({
  ...members,
  stages: Type.Array(countedStage, { description: 'In their order' }),
});

function membersOf(row: ReleaseRow) {
  const stoppedFor = row.stoppedBy === null ? '' : row.stoppedBy === '' ? 'failures' : 'user';
  return {
    releaseID: row.releaseID,
    version: row.version,
    url: shownUrl(row.url),
    sha256: row.sha256,
    note: row.note,
    ttl: row.ttlS,
    stopAfter: row.stopAfter,
    releaseState: row.releaseState,
    createdBy: row.createdBy,
    created: epochSeconds(row.createdMs),
    stoppedBy: row.stoppedBy ?? '',
    stoppedFor,
    stopReason: row.stopReason,
    ended: epochSeconds(row.endedMs),
  } as const;
}

const stageOf = (row: StageRow): Static<typeof stage> => ({
  stage: row.stage,
  groupID: row.groupID,
  groupDevices: row.groupDevices,
  started: epochSeconds(row.startedMs),
  startedBy: row.startedBy ?? '',
});

/** A release in a list. */
export const viewListed = (row: ReleaseRow, stages: readonly StageRow[]): Static<typeof listedRelease> => ({
  ...membersOf(row),
  stages: stages.filter(({ releaseNo }) => releaseNo === row.releaseNo).map(stageOf),
});

/** One release with how its units stand. */
export function viewCounted(
  row: ReleaseRow,
  stages: readonly StageRow[],
  counts: readonly StateCount[],
): Static<typeof countedRelease> {
  const counted = (one: StageRow): Static<typeof countedStage> => {
    const sums: Record<UnitPhase, number> = { waiting: 0, underWay: 0, done: 0, failed: 0, withdrawn: 0 };
    for (const { stage: at, state, units } of counts) if (at === one.stage) sums[phaseOf[state]] += units;
    const units = Object.values(sums).reduce((sum, value) => sum + value, 0);
    return { ...stageOf(one), units, ...sums };
  };
  return {
    ...membersOf(row),
    stages: stages.filter(({ releaseNo }) => releaseNo === row.releaseNo).map(counted),
  };
}

/** A release of the caller's account. @throws AppError `not_found`. */
export async function needRelease(
  { db }: Pick<ApiServices, 'db'>,
  accountID: string,
  releaseID: string,
): Promise<ReleaseRow> {
  const row = await findRelease(db, { accountID, releaseID });
  if (row === null) throw new AppError('not_found', `There is no release ${JSON.stringify(releaseID)}`);
  return row;
}

export const exampleRelease = {
  releaseID: '2c4e6a8b0d1f43a5b7c9e1f301234567',
  version: '1.4.0',
  url: 'https://updates.example.com/fleetward-agent-1.4.0-arm64.tar.gz',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  note: 'Fixes the clock of the receiver',
  ttl: 604_800,
  stopAfter: 1,
  releaseState: 'running' as const,
  createdBy: 'admin',
  created: 1763683200,
  stoppedBy: '',
  stoppedFor: '' as const,
  stopReason: '',
  ended: 0,
};
export const exampleStages = [
  { stage: 1, groupID: 'pilot', groupDevices: 2, started: 1763683260, startedBy: 'admin' },
  { stage: 2, groupID: 'north', groupDevices: 40, started: 0, startedBy: '' },
];

// Stages of releases: makes the jobs of the units of a stage that has begun, in the pace of the service, stops a release whose units fail, and
// withdraws the jobs of one that was stopped. The stage itself is begun by a person only.
import { messageOf } from '../../../src/core/errors.ts';
import type { Kernel, Slice } from '../../api/base/api-services.ts';
import { firmwareContent, shownUrl } from '../../core/commands/firmware-file.ts';
import { createPeriodicTask, type PeriodicTask } from '../../scheduling/periodic-task.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import { isRecorded, supersedeAndInsert } from '../../store/commands/commands.ts';
import { endRelease, mayStop, stopRelease } from './release-statements.ts';
import type { ReleaseRow } from './release-tables.ts';
import {
  countUnits,
  failedStates,
  hasUnfinished,
  jobsUnderWay,
  mayOrder,
  openReleases,
  recordCurrent,
  recordOrder,
  type WaitingUnit,
  waitingUnits,
} from './release-units.ts';

const limits = {
  /** Jobs that are made or withdrawn in one run. */
  jobsAtOnce: 20,
  busyMs: 1000,
  idleMs: 5000,
  lagMostMs: 2000,
  /** A run that took long is followed by a pause of so many times that. */
  pauseFactor: 10,
} as const;

const isFailed = (state: string): boolean => (failedStates as readonly string[]).includes(state);

/** Makes the job of one unit, unless it runs the version or the release was stopped meanwhile. */
async function orderUnit(
  { db, clock, ledger }: Kernel,
  release: ReleaseRow,
  unit: WaitingUnit,
): Promise<void> {
  const { releaseNo, releaseID, accountID, version, url, sha256, ttlS } = release;
  const { deviceNo, deviceID, startedBy } = unit;
  const key = { releaseNo, deviceNo };
  if (unit.agentVersion === version) {
    await db.write([recordCurrent(key, Math.round(clock.utcMs()))]);
    return;
  }
  await ledger.enact({
    device: unit,
    statements({ commandID, issuedMs }) {
      const job = {
        deviceNo,
        commandID,
        feature: 'firmware',
        state: '1',
        reason: '',
        issuer: startedBy,
        issuedMs,
        expiresMs: issuedMs + ttlS * 1000,
        sameSinceMs: issuedMs,
        content: firmwareContent({ version, url, sha256 }),
        isCounted: false,
      } as const;
      const onlyIf = isRecorded(commandID);
      const entry = {
        accountID,
        atMs: issuedMs,
        actor: startedBy,
        source: unit.startedFrom,
        action: 'command.firmware',
        object: deviceID,
        detail: { commandID, version, url: shownUrl(url), sha256, releaseID },
      };
      return [
        ...supersedeAndInsert(job, mayOrder(key)),
        insertAudit(entry, onlyIf),
        recordOrder(key, { commandID, atMs: issuedMs, onlyIf }),
      ];
    },
  });
}

/** Stops a release of which too many units have failed; true when it did. */
async function stopIfFailing(kernel: Kernel, release: ReleaseRow): Promise<boolean> {
  const { db, clock, log } = kernel;
  const { releaseID, accountID, releaseNo, version, stopAfter } = release;
  const counts = await countUnits(db, releaseNo);
  const failed = counts.reduce((sum, { state, units }) => sum + (isFailed(state) ? units : 0), 0);
  if (failed < stopAfter) return false;
  const atMs = Math.round(clock.utcMs());
  const entry = {
    accountID,
    atMs,
    actor: 'service',
    source: '',
    action: 'release.stop',
    object: releaseID,
    detail: { version, failed, stopAfter },
  };
  await db.write([insertAudit(entry, mayStop(release)), stopRelease(release, { by: '', reason: '', atMs })]);
  log.warn('release_stopped', { accountID, releaseID, version, failed });
  return true;
}

/** Withdraws what is under way; true when jobs are left that can be. */
async function withdrawJobs(kernel: Kernel, release: ReleaseRow): Promise<boolean> {
  const { db, log, ledger } = kernel;
  const { accountID, releaseNo, stoppedBy } = release;
  const jobs = await jobsUnderWay(db, releaseNo, limits.jobsAtOnce);
  for (const commandID of jobs) {
    try {
      await ledger.cancel({ accountID, commandID, issuer: stoppedBy === '' ? 'service' : (stoppedBy ?? '') });
    } catch (thrown) {
      // It has ended meanwhile.
      log.info('release_job_not_withdrawn', { accountID, commandID, reason: messageOf(thrown) });
    }
  }
  return jobs.length > 0;
}

/** True when there is more to do at once. */
async function advance(kernel: Kernel, release: ReleaseRow): Promise<boolean> {
  const { db, clock, log } = kernel;
  const { releaseNo, releaseID, accountID } = release;
  if (release.releaseState === 'stopping') {
    if (await withdrawJobs(kernel, release)) return true;
  } else {
    if (await stopIfFailing(kernel, release)) return true;
    const waiting = await waitingUnits(db, releaseNo, limits.jobsAtOnce);
    for (const unit of waiting) await orderUnit(kernel, release, unit);
    if (waiting.length > 0) return true;
    if (await hasUnfinished(db, releaseNo)) return false;
  }
  const [ended] = await db.write([endRelease(release, Math.round(clock.utcMs()))]);
  if (ended?.changes === 1) log.info('release_ended', { accountID, releaseID });
  return false;
}

async function runOnce(kernel: Kernel): Promise<number> {
  const { db, log, leases, lagMs } = kernel;
  if (!leases.holds('upkeep') || lagMs() > limits.lagMostMs) return limits.idleMs;
  let isBusy = false;
  try {
    for (const release of await openReleases(db)) isBusy = (await advance(kernel, release)) || isBusy;
  } catch (thrown) {
    log.error('release_rollout_failed', { reason: messageOf(thrown) });
  }
  return isBusy ? limits.busyMs : limits.idleMs;
}

/** To be woken when a stage was begun, or a release stopped. */
export const releaseRollout: Slice<PeriodicTask> = {
  create: (kernel) =>
    createPeriodicTask({
      clock: kernel.clock,
      firstMs: limits.idleMs,
      pauseFactor: limits.pauseFactor,
      run: () => runOnce(kernel),
    }),
};

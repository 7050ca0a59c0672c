// Runs the tasks of the update machine (`../../core/update/update.ts`), one after the other, and reports each
// outcome. It checks signatures and hashes only; the core decides when. It ends no process: it only resolves
// `restartWanted`.
import type { KeyObject } from 'node:crypto';
import { messageOf } from '../../../src/core/errors.ts';
import type { Log } from '../../../src/ports.ts';
import type { ReleaseFacts, UpdateResult, UpdateTask } from '../../core/update/update-types.ts';
import type { Updater } from '../../ports.ts';
import { confirmTrial, readReleaseState, requestTrial, withdrawTrial } from './release-state.ts';
import { type StagingOptions, stageRelease, tidyReleases } from './staging.ts';

/** Exit code with which the agent asks the service manager for a start through the launcher. */
export const restartExitCode = 85;

export interface UpdaterOptions extends StagingOptions {
  readonly key: KeyObject;
  readonly parkedMs: number;
  readonly healthMs: number;
  readonly trialMs: number;
  readonly log: Log;
}

function readFacts(root: string): ReleaseFacts {
  const { trial, confirmed, rejected } = readReleaseState(root).state;
  return { trial: trial?.version ?? null, confirmed, rejected };
}

/** The error message; null when it succeeded. */
function faultOf(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

type Answered = Extract<UpdateTask, { kind: 'ask' | 'withdraw' | 'confirm' | 'reject' }>;

/** Writes the request into the launcher's file; on the disk when it returns. */
function requestLauncher(task: Answered, { root, key, trialMs }: UpdaterOptions): UpdateResult {
  const { version } = task;
  switch (task.kind) {
    case 'ask': {
      const confirmWithinS = Math.round(trialMs / 1000);
      return { kind: 'asked', fault: faultOf(() => requestTrial({ root, key, version, confirmWithinS })) };
    }
    case 'withdraw':
      return { kind: 'withdrawn', fault: faultOf(() => withdrawTrial(root, version)) };
    case 'confirm':
      return {
        kind: 'confirmed',
        fault: faultOf(() => {
          if (!confirmTrial({ root, key, version })) throw new Error(`release ${version} is not on trial`);
        }),
      };
    case 'reject':
      return { kind: 'rejected', fault: faultOf(() => withdrawTrial(root, version, task.reason)) };
  }
}

/** Creates the updater of the running release; the state of releases is read now. */
export function createUpdater(options: UpdaterOptions): Updater {
  const { root, running, parkedMs, healthMs, trialMs, log } = options;
  let staging = new AbortController();
  let line: Promise<void> = Promise.resolve();
  let restart: () => void = () => undefined;
  const restartWanted = new Promise<void>((resolve) => void (restart = resolve));
  const then = (work: () => Promise<void> | void): void => {
    line = line.then(work).catch((thrown: unknown) => {
      log.error('update_task_failed', { reason: messageOf(thrown) });
    });
  };
  const halt = (): void => {
    staging.abort();
    staging = new AbortController();
  };

  return {
    setup: { running, parkedMs, healthMs, trialMs, facts: readFacts(root) },
    restartWanted,
    close: () => staging.abort(),
    perform(task, report) {
      switch (task.kind) {
        case 'stage': {
          const { signal } = staging;
          const { job } = task;
          return then(async () => {
            const onBytes = (bytes: number): void => report({ kind: 'carried', bytes });
            const fault = await stageRelease(options, { job, signal, onBytes });
            report({ kind: 'staged', commandID: job.commandID, fault });
          });
        }
        case 'halt':
          return halt();
        case 'tidy':
          halt();
          return then(() => tidyReleases(root, null));
        case 'ask':
        case 'withdraw':
        case 'confirm':
        case 'reject':
          return then(() => report(requestLauncher(task, options)));
        case 'restart':
          return restart();
      }
    },
  };
}

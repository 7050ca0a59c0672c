// Sends commands over HTTP at the planned moments: state 1 to a vehicle, and state 0 later, so no run leaves a vehicle cut off. A
// refused command is counted and not sent in another way.
import { AppError, messageOf } from '../../../src/core/errors.ts';
import type { FeatureName, FeatureState } from '../../../src/core/events/event.ts';
import type { Cancel, Clock } from '../../../src/ports.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { SeededEntropy } from '../../core/random.ts';
import { createPace, nextCommand, pickCommand } from '../../core/scenario/command-plan.ts';
import type { Scenario } from '../../core/scenario/scenario-schema.ts';
import { type RunTime } from '../shared/run-ports.ts';
import type { Service } from './service.ts';

/** Counts of requested commands and their outcomes. */
export interface CommandTally {
  /** Requests, of both states. */
  readonly requested: number;
  /** Refused or not answered in time, and the last reason. */
  readonly refused: { readonly count: number; readonly last: string };
  /** Cuts that needed the approval of a second user. */
  readonly approvals: { readonly approved: number; readonly waiting: number };
}

export interface CommandSender {
  /** From now on `factor` times the planned rate. */
  setRate(factor: number): void;
  /** Sends no further command of state 1, and all outstanding commands of state 0 at once. */
  finish(): Promise<void>;
  /** Reads from the service how every command ended. */
  updateStates(): Promise<void>;
  tally(): CommandTally;
  /** Sends nothing more, not even restores. */
  close(): void;
}

export interface CommandSenderOptions {
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly time: RunTime;
  readonly entropy: SeededEntropy;
  readonly ledger: Ledger;
  readonly service: Service;
  /** Logged in as a second user that approves cuts; null: none was given. */
  readonly approver: Service | null;
  /** Devices whose intended start has passed. */
  startedDevices(): readonly { readonly deviceID: string }[];
}

interface Command {
  readonly deviceID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
}

interface Answer {
  readonly commandID?: string;
  readonly commandState?: string;
  readonly approvalID?: string;
}

/** A command of state 1 that is not restored yet. */
interface OpenCommand {
  readonly command: Command;
  /** Cancels the timer of its restore. */
  readonly cancel: Cancel;
  /** Resolves when the request was answered or has failed. */
  readonly isAnswered: Promise<void>;
  isRestoring: boolean;
}

/** Requests are retried this long, ms: a broker that is killed and started again takes some seconds. */
const retryForMs = { '1': 20_000, '0': 60_000 } as const satisfies Record<FeatureState, number>;

const keyOf = ({ deviceID, feature }: Command): string => `${deviceID} ${feature}`;

/** Requests one command. @returns its id; null: it waits for the approval of a second user. @throws AppError. */
async function request(
  { service, approver, scenario }: CommandSenderOptions,
  command: Command,
): Promise<{ readonly commandID: string | null; readonly isApproved: boolean }> {
  const ttl = command.state === '1' ? { ttl: scenario.commands.ttlS } : {};
  const body = { ...command, reason: 'simulation', ...ttl };
  const path = '/command/feature/authorization';
  const call = { method: 'POST', path, body, retryForMs: retryForMs[command.state] } as const;
  const { commandID = '', approvalID = '' } = await service.call<Answer>(call);
  if (commandID !== '') return { commandID, isApproved: false };
  if (approvalID === '')
    throw new AppError('invalid_content', `POST ${path}: the answer names neither a command nor an approval`);
  if (approver === null) return { commandID: null, isApproved: false };
  const approve = { method: 'POST', path: '/command/approve/authorization', body: { approvalID } } as const;
  const approved = await approver.call<Answer>({ ...approve, retryForMs: retryForMs['1'] });
  if (approved.commandID === undefined || approved.commandID === '')
    throw new AppError('invalid_content', `POST ${approve.path}: the answer names no command`);
  return { commandID: approved.commandID, isApproved: true };
}

/** Reads the states of all commands that had not ended at the last read. */
async function updateStates({ ledger, service }: CommandSenderOptions): Promise<void> {
  for (const { commandID, hasEnded } of ledger.commands.values()) {
    if (hasEnded) continue;
    const path = `/command/get/${commandID}/authorization`;
    const row = await service.call<{ readonly commandState: string; readonly hasEnded: boolean }>({ path });
    ledger.ended(commandID, row.commandState, row.hasEnded);
  }
}

/** The requests in flight, so that their end can be awaited. */
function createPendingSet() {
  const pending = new Set<Promise<void>>();
  return {
    track(request: Promise<void>): Promise<void> {
      const tracked = request.finally(() => pending.delete(tracked));
      pending.add(tracked);
      return tracked;
    },
    async idle(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

export function createCommandSender(options: CommandSenderOptions): CommandSender {
  const { scenario, clock, time, entropy, ledger } = options;
  const { perMinute, ttlS, restoreS } = scenario.commands;
  const refused = { count: 0, last: '' };
  const approvals = { approved: 0, waiting: 0 };
  let requested = 0;
  const open = new Map<string, OpenCommand>();
  const { track, idle } = createPendingSet();
  let isFinished = false;
  let factor = 1;
  let next: Cancel = () => undefined;

  const send = async (command: Command): Promise<void> => {
    const requestedMs = time.nowMs();
    const expiresMs = requestedMs + (command.state === '1' ? ttlS * 1000 : Number.POSITIVE_INFINITY);
    requested += 1;
    try {
      const { commandID, isApproved } = await request(options, command);
      if (isApproved) approvals.approved += 1;
      if (commandID === null) approvals.waiting += 1;
      else if (!ledger.commands.has(commandID))
        ledger.requested({ ...command, commandID, requestedMs, expiresMs });
    } catch (thrown) {
      refused.count += 1;
      refused.last = messageOf(thrown);
    }
  };
  /** Sends state 0 after any outcome of the command, but never before its answer: a later cut would undo the restore. */
  const restore = async (key: string): Promise<void> => {
    const entry = open.get(key);
    if (entry === undefined || entry.isRestoring) return;
    entry.isRestoring = true;
    entry.cancel();
    await entry.isAnswered;
    await send({ ...entry.command, state: '0' });
    open.delete(key);
  };
  const pace = createPace();
  const sendPlanned = (dueMs: number): void => {
    const started = options.startedDevices();
    const picked = pickCommand(scenario, entropy, started.length);
    const deviceID = started[picked?.vehicle ?? 0]?.deviceID;
    if (picked === null || deviceID === undefined) return;
    const command: Command = { deviceID, feature: picked.feature, state: '1' };
    const key = keyOf(command);
    if (open.has(key) || !pace.mayCommand(dueMs)) return;
    const cancel = clock.after(restoreS * 1000, () => void track(restore(key)));
    open.set(key, { command, cancel, isAnswered: track(send(command)), isRestoring: false });
  };
  const schedule = (beforeMs: number): void => {
    const { dueMs, isCommand } = nextCommand(scenario, entropy, { beforeMs, factor });
    next = clock.after(Math.max(0, dueMs - time.nowMs()), () => {
      if (isFinished) return;
      if (isCommand) sendPlanned(dueMs);
      schedule(dueMs);
    });
  };
  if (perMinute > 0) schedule(0);
  return {
    setRate(times) {
      factor = times;
      next();
      if (perMinute > 0 && !isFinished) schedule(Math.max(0, time.nowMs()));
    },
    async finish() {
      isFinished = true;
      next();
      for (const key of open.keys()) void track(restore(key));
      await idle();
    },
    updateStates: () => updateStates(options),
    tally: () => ({ requested, refused: { ...refused }, approvals: { ...approvals } }),
    close() {
      isFinished = true;
      next();
      for (const { cancel } of open.values()) cancel();
    },
  };
}

// The way to the demonstration that started this process: the channel of messages between a Node process and its child. It has no name
// and no address, so that no other program can reach the world, or pretend to be it.
import { AppError, isErrorCode } from '../../src/core/errors.ts';
import type { PracticeFleet, PracticeRequest } from '../../src/core/practice.ts';
import type { Clock } from '../../src/ports.ts';
import type { PracticeWorld } from '../ports/practice-world.ts';

const answerMs = 10_000;
/** More that wait at once are refused. */
const waitingMost = 32;

interface Answer {
  readonly practice: number;
  readonly ok?: unknown;
  readonly error?: { readonly code?: string; readonly message?: string; readonly hint?: string };
}

interface Waiting {
  done(value: unknown): void;
  fail(error: AppError): void;
}

const isAnswer = (message: unknown): message is Answer =>
  typeof message === 'object' && message !== null && 'practice' in message;

const noAnswer = (why: string): AppError =>
  new AppError('unavailable', `The practice fleet does not answer: ${why}`, { retryAfterS: 1 });

function errorOf({ code, message = '', hint }: NonNullable<Answer['error']>): AppError {
  return new AppError(isErrorCode(code) ? code : 'internal', message, hint === undefined ? {} : { hint });
}

/**
 * The world of the demonstration that started this process.
 * @param accountID the setting `practice.account`.
 * @returns null without the setting.
 * @throws AppError `config` when no demonstration started it.
 */
export function openPracticeWorld(accountID: string, clock: Clock): PracticeWorld | null {
  if (accountID === '') return null;
  if (process.send === undefined || process.channel === undefined)
    throw new AppError('config', 'practice.account is set, but no demonstration started this broker', {
      hint: 'Leave practice.account out: npm start sets it for the broker of the demonstration.',
    });
  const waiting = new Map<number, Waiting>();
  let lastNo = 0;
  // The channel alone must not keep the process from ending.
  process.on('message', (message) => {
    if (!isAnswer(message)) return;
    const asked = waiting.get(message.practice);
    if (message.error === undefined) asked?.done(message.ok);
    else asked?.fail(errorOf(message.error));
  });
  process.channel.unref();
  process.on('disconnect', () => {
    for (const one of waiting.values()) one.fail(noAnswer('it has ended'));
  });
  const ask = (request: PracticeRequest): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (!process.connected) return reject(noAnswer('it has ended'));
      if (waiting.size >= waitingMost) return reject(noAnswer('too much is asked at once'));
      const no = ++lastNo;
      const end = (run: () => void): void => {
        cancel();
        waiting.delete(no);
        run();
      };
      const fail = (error: AppError): void => end(() => reject(error));
      const cancel = clock.after(answerMs, () => fail(noAnswer(`nothing came within ${answerMs / 1000} s`)));
      waiting.set(no, { fail, done: (value) => end(() => resolve(value)) });
      process.send?.({ practice: no, request }, (fault: Error | null) => {
        if (fault !== null) fail(noAnswer(fault.message));
      });
    });
  return {
    accountID,
    look: async () => (await ask({ kind: 'look' })) as PracticeFleet,
    async act(deviceID, action) {
      await ask({ kind: 'act', deviceID, action });
    },
    async askForCut(deviceID) {
      await ask({ kind: 'askForCut', deviceID });
    },
  };
}

// The colleague of the demo: a simulated second user that requests an engine cut, so one person can see both sides of an
// approval, and that brings the agreement of the practice persons. It is an ordinary user over HTTP; only its day of waiting is skipped, in the
// demo's database.
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../src/core/errors.ts';
import type { Entropy } from '../../src/ports.ts';
import type { PracticeOwner } from './practice-owner.ts';

/** User id of the colleague. */
export const colleagueID = 'colleague';

export interface ColleagueOptions {
  /** Of the service: `http://127.0.0.1:<port>`. */
  readonly base: string;
  readonly accountID: string;
  readonly adminID: string;
  /** Password of the administrator; null where only an earlier start knew it. */
  readonly adminPassword: string | null;
  readonly entropy: Entropy;
  /** A new login code of the administrator; null when the account allows none. */
  makeLoginCode(): Promise<string | null>;
  /** Makes a user of the demo's own broker old enough for a cut. */
  ageUser(userID: string): Promise<void>;
  /** Password of the colleague that an earlier start has kept; null: there is none. */
  readonly password: string | null;
  keepPassword(password: string): Promise<void>;
  /** Null: no vehicle of the demo has an owner's key. */
  readonly owner: PracticeOwner | null;
}

type Answer = Readonly<Record<string, unknown>>;

const answerMs = 8000;
/** Between two persons, so that the first agreement can be seen alone, ms. */
const betweenMs = 2000;
/** Life of the colleague's cut, s. */
const cutTtlS = 1800;

/** Calls an operation. Rejects with the service's own words. */
async function call(base: string, path: string, sent: { token?: string; body?: object }): Promise<Answer> {
  const { token, body } = sent;
  const answer = await fetch(`${base}/api/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === undefined ? {} : { authorization: token }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(answerMs),
  }).catch((cause: unknown) => {
    throw new AppError('unavailable', 'The service of the demo does not answer', { cause });
  });
  const said = (await answer.json()) as Answer;
  const error = said['error'] as { readonly detail?: string; readonly hint?: string | null } | undefined;
  if (error === undefined) return said;
  const hint = error.hint ?? null;
  throw new AppError('conflict', error.detail ?? path, hint === null ? {} : { hint });
}

/** An administrator's session, ended after the work. */
async function asAdmin(options: ColleagueOptions, work: (token: string) => Promise<void>): Promise<void> {
  const { base, accountID, adminID: userID, adminPassword: password } = options;
  const code = password === null ? await options.makeLoginCode() : null;
  if (password === null && code === null)
    throw new AppError('conflict', 'The demo cannot make a colleague: its cuts need a second user already', {
      hint: 'npm start -- --fresh starts over.',
    });
  const begun =
    code === null
      ? await call(base, 'auth/login', { body: { accountID, userID, password } })
      : await call(base, 'auth/login/code', { body: { code } });
  const token = String(begun['token']);
  try {
    await work(token);
  } finally {
    await call(base, `auth/logout/${accountID}/${userID}`, { token });
  }
}

/** Cuts need two people from now on. */
async function switchRuleOn({ base, accountID }: ColleagueOptions, token: string): Promise<void> {
  await call(base, 'auth/updateaccount/authorization', { token, body: { accountID, needsApproval: true } });
}

/** Makes the user, with the standing of one who was made long ago and confirmed: otherwise it would count after a day. */
async function makeColleague(options: ColleagueOptions): Promise<string> {
  const { base } = options;
  const password = Buffer.from(options.entropy.bytes(18)).toString('base64url');
  await asAdmin(options, async (token) => {
    const user = { userID: colleagueID, password, roleID: 'operator', userDisplayName: 'Colleague' };
    await call(base, 'user/createuser/authorization', { token, body: user });
  });
  await options.keepPassword(password);
  await options.ageUser(colleagueID);
  return password;
}

interface Session {
  readonly token: string;
  readonly password: string;
}

type InSession = (work: (session: Session) => Promise<void>) => Promise<void>;

/** Asks for a cut of a vehicle, which another user decides. */
async function askForCut(options: ColleagueOptions, deviceID: string, { token, password }: Session) {
  const { base } = options;
  // Switched off, the cut would go without a second person.
  const { needsApproval } = await call(base, 'command/limits/authorization', { token });
  if (needsApproval !== true) await asAdmin(options, (admin) => switchRuleOn(options, admin));
  const order = { deviceID, feature: 'enginecutoff', state: '1', reason: 'stolen', ttl: cutTtlS, password };
  await call(base, 'command/feature/authorization', { token, body: order });
}

interface Waiting {
  readonly approvalID: string;
  readonly deviceID: string;
  readonly signOptions: { readonly challenge: string } | null;
}

/** Both practice persons agree, one after the other, to the order that waits for them. */
async function agree({ base, owner }: ColleagueOptions, deviceID: string, { token, password }: Session) {
  const { approvals } = await call(base, 'command/approvals/authorization', { token });
  const waiting = (approvals as readonly Waiting[]).find((one) => one.deviceID === deviceID);
  const challenge = waiting?.signOptions?.challenge;
  if (waiting === undefined || challenge === undefined || owner === null)
    throw new AppError('conflict', `No order of ${deviceID} waits for persons`, {
      hint: 'Ask for its cut first.',
    });
  const { approvalID } = waiting;
  for (const [at, person] of owner.persons.entries()) {
    if (at > 0) await sleep(betweenMs);
    const body = { approvalID, assertion: person.assert(challenge), password };
    await call(base, 'command/sign/authorization', { token, body });
  }
}

/** Gives the owner's signed list to the service, as an administrator does in the console. */
export async function shareOwner(options: ColleagueOptions): Promise<void> {
  const { base, owner } = options;
  if (owner === null) return;
  const body = { document: owner.documentText };
  await asAdmin(
    options,
    async (token) => void (await call(base, 'owner/set/authorization', { token, body })),
  );
}

/** @returns what the colleague does for a vehicle. Both reject with AppError `conflict` or `unavailable`. */
export function createColleague(options: ColleagueOptions) {
  let made: Promise<string> | null = options.password === null ? null : Promise.resolve(options.password);
  const inSession: InSession = async (work) => {
    made ??= makeColleague(options).catch((thrown: unknown) => {
      made = null;
      throw thrown;
    });
    const { base, accountID } = options;
    const password = await made;
    const login = { accountID, userID: colleagueID, password };
    const token = String((await call(base, 'auth/login', { body: login }))['token']);
    try {
      await work({ token, password });
    } finally {
      await call(base, `auth/logout/${accountID}/${colleagueID}`, { token });
    }
  };
  return {
    askForCut: (deviceID: string) => inSession((session) => askForCut(options, deviceID, session)),
    agree: (deviceID: string) => inSession((session) => agree(options, deviceID, session)),
  };
}

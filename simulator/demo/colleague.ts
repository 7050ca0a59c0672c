// The colleague of the demo: a simulated second user that requests an engine cut, so one person can see both sides of an
// approval. It is an ordinary user over HTTP; only its day of waiting is skipped, in the demo's database.
import { AppError } from '../../src/core/errors.ts';
import type { Entropy } from '../../src/ports.ts';

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
}

type Answer = Readonly<Record<string, unknown>>;

const answerMs = 8000;
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
    await switchRuleOn(options, token);
  });
  await options.keepPassword(password);
  await options.ageUser(colleagueID);
  return password;
}

/** @returns what has the colleague ask for a cut of a vehicle. Rejects with AppError `conflict` or `unavailable`. */
export function createColleague(options: ColleagueOptions): (deviceID: string) => Promise<void> {
  let made: Promise<string> | null = options.password === null ? null : Promise.resolve(options.password);
  return async (deviceID) => {
    made ??= makeColleague(options).catch((thrown: unknown) => {
      made = null;
      throw thrown;
    });
    const { base, accountID } = options;
    const password = await made;
    const login = { accountID, userID: colleagueID, password };
    const token = String((await call(base, 'auth/login', { body: login }))['token']);
    const order = { deviceID, feature: 'enginecutoff', state: '1', reason: 'stolen', ttl: cutTtlS, password };
    try {
      // Switched off meanwhile, the cut would go without a second person.
      const { needsApproval } = await call(base, 'command/limits/authorization', { token });
      if (needsApproval !== true) await asAdmin(options, (admin) => switchRuleOn(options, admin));
      await call(base, 'command/feature/authorization', { token, body: order });
    } finally {
      await call(base, `auth/logout/${accountID}/${colleagueID}`, { token });
    }
  };
}

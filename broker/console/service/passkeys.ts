// The browser's part of the ceremonies of a passkey, by `@simplewebauthn/browser`, which is loaded when one begins.
import type { Body } from '../api/operations.ts';
import { call } from './call.ts';

const library = () => import('@simplewebauthn/browser');
type Library = Awaited<ReturnType<typeof library>>;
type Options<C extends 'startRegistration' | 'startAuthentication'> = Parameters<
  Library[C]
>[0]['optionsJSON'];

/** The browser, or its user, has given none. */
export class NoPasskey extends Error {}

/** Says why without its name: browsers word it as they like. */
const none = (thrown: unknown): never => {
  throw new NoPasskey('The browser has given no passkey', { cause: thrown });
};

/** The answer of the browser, as the service takes it, which looks at each member. */
const sent = (response: object): unknown => JSON.parse(JSON.stringify(response));

/** What the browser that made a passkey keeps of it, for the list of an owner: the service is not asked for it. */
interface KeptPasskey {
  /** SPKI in base64url. */
  readonly publicKey: string;
  readonly rpID: string;
}

const keptKey = 'fleetward.passkeys';

/** By credential id. */
export function keptPasskeys(): Readonly<Record<string, KeptPasskey>> {
  try {
    return JSON.parse(localStorage.getItem(keptKey) ?? '{}') as Readonly<Record<string, KeptPasskey>>;
  } catch {
    return {};
  }
}

/** Adds one for the user of the session. @throws ServiceError, NoPasskey */
export async function addPasskey({ name, password }: { readonly name: string; readonly password: string }) {
  const [{ startRegistration }, { options }] = await Promise.all([
    library(),
    call('beginPasskey', { body: { password } }),
  ]);
  const optionsJSON = options as unknown as Options<'startRegistration'>;
  const made = await startRegistration({ optionsJSON }).catch(none);
  const added = await call('addPasskey', {
    body: { name, response: sent(made) as Body<'addPasskey'>['response'] },
  });
  const { publicKey } = made.response;
  const rpID = optionsJSON.rp.id ?? location.hostname;
  if (publicKey !== undefined)
    localStorage.setItem(
      keptKey,
      JSON.stringify({ ...keptPasskeys(), [made.id]: { publicKey, rpID } satisfies KeptPasskey }),
    );
  return added;
}

/** One touch. @throws NoPasskey */
export async function askForPasskey(optionsJSON: Options<'startAuthentication'>) {
  const { startAuthentication } = await library();
  return startAuthentication({ optionsJSON }).catch(none);
}

/** A new session. @throws ServiceError, NoPasskey */
export async function loginByPasskey() {
  const { options } = await call('beginPasskeyLogin', {});
  const given = await askForPasskey(options);
  return call('loginByPasskey', { body: { response: sent(given) as Body<'loginByPasskey'>['response'] } });
}

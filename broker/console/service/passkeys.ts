// The browser's part of a passkey's two ceremonies, by `@simplewebauthn/browser`, which is loaded when one begins.
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

/** Adds one for the user of the session. @throws ServiceError, NoPasskey */
export async function addPasskey({ name, password }: { readonly name: string; readonly password: string }) {
  const [{ startRegistration }, { options }] = await Promise.all([
    library(),
    call('beginPasskey', { body: { password } }),
  ]);
  const made = await startRegistration({
    optionsJSON: options as unknown as Options<'startRegistration'>,
  }).catch(none);
  return call('addPasskey', { body: { name, response: sent(made) as Body<'addPasskey'>['response'] } });
}

/** A new session. @throws ServiceError, NoPasskey */
export async function loginByPasskey() {
  const [{ startAuthentication }, { options }] = await Promise.all([
    library(),
    call('beginPasskeyLogin', {}),
  ]);
  const given = await startAuthentication({
    optionsJSON: options,
  }).catch(none);
  return call('loginByPasskey', { body: { response: sent(given) as Body<'loginByPasskey'>['response'] } });
}

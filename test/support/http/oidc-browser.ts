// What a browser does between the app and a login provider: follows redirects with cookies, fills in the login page, agrees,
// and comes back to the page of the app.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./oidc-provider-child.mjs', import.meta.url));

export interface ProviderSetup {
  readonly redirectUrl: string;
  readonly clientSecret: string;
  /** Claims by login name. */
  readonly people: Readonly<Record<string, object>>;
}

/** Starts a provider; `issuer` is where it listens. */
export async function startProvider({ redirectUrl, clientSecret, people }: ProviderSetup) {
  const args = [program, redirectUrl, clientSecret, JSON.stringify(people)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  let issuer = '';
  // It may print notices first.
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('http://')) continue;
    issuer = line;
    break;
  }
  if (issuer === '') throw new Error('The provider did not start');
  return {
    issuer,
    async stop(): Promise<void> {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const stepsMost = 20;

/**
 * Logs in at the provider's page.
 * @returns the parameters that the browser comes back to the app with.
 */
export async function logInAtProvider(
  authorizationURL: string,
  { login, redirectUrl }: { readonly login: string; readonly redirectUrl: string },
): Promise<Readonly<Record<string, string>>> {
  const cookies = new Map<string, string>();
  let url = new URL(authorizationURL);
  let form: URLSearchParams | null = null;
  for (let steps = 0; steps < stepsMost; steps++) {
    const answer: Response = await fetch(url, {
      method: form === null ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === null ? {} : { body: form }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const location = answer.headers.get('location');
    const page = await answer.text();
    form = null;
    if (location !== null) {
      url = new URL(location, url);
      if (url.href.startsWith(redirectUrl)) return Object.fromEntries(url.searchParams);
      continue;
    }
    const prompt = /name="prompt" value="(login|consent)"/.exec(page)?.[1];
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    if (prompt === undefined || action === undefined) throw new Error(`no form: ${answer.status} ${page}`);
    url = new URL(action.replaceAll('&amp;', '&'), url);
    form = new URLSearchParams({ prompt, login, password: 'any' });
  }
  throw new Error('The provider sends the browser around in a circle');
}

// The management interface of a RabbitMQ cluster, for two things only: is a vehicle connected, and end its connection; and
// whether it would do so. Any node answers for all. It must never be asked for lists of the whole fleet, which would cost the cluster more than us.
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { messageOf } from '../../../src/core/errors.ts';
import { type DeviceAddress, formatDeviceUser } from '../../../src/core/wire/topics.ts';

export interface ManagementOptions {
  /** `https://node:15671`, tried one after the other, the one that answered last first. */
  readonly urls: readonly string[];
  readonly user: string;
  readonly password: string;
  /** Authorities to trust (PEM); null: those of the system. */
  readonly ca: string | null;
}

export interface Management {
  /** @throws Error when no node answers. */
  isConnected(device: DeviceAddress): Promise<boolean>;
  /** Ends every connection of the device. @throws Error when no node answers. */
  disconnect(device: DeviceAddress, reason: string): Promise<void>;
  /** @throws Error when no node answers, or the user may not end connections of others. */
  probe(): Promise<void>;
}

/** Short, as a node that hangs is tried before another one is. */
const answerMs = 1500;
/** A vehicle has one connection, and two while one takes over from the other. */
const answerBytes = 64 * 1024;
const reasonMost = 200;

interface Call {
  readonly method: 'GET' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The body of a 2xx answer. */
function ask(base: string, { method, path, headers }: Call, { user, password, ca }: ManagementOptions) {
  const url = new URL(path, base);
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const options = {
    method,
    headers: { ...headers, authorization, accept: 'application/json' },
    signal: AbortSignal.timeout(answerMs),
    ...(ca === null ? {} : { ca }),
  };
  return new Promise<string>((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestTls : requestPlain;
    const sent = send(url, options, (answer) => {
      const parts: Buffer[] = [];
      let size = 0;
      answer.on('error', reject);
      answer.on('data', (part: Buffer) => {
        size += part.length;
        if (size > answerBytes) answer.destroy(new Error('the answer is too long'));
        else parts.push(part);
      });
      answer.on('end', () => {
        const status = answer.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve(Buffer.concat(parts).toString());
        else reject(new Error(`it answered ${status}`));
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Over HTTP; keeps nothing open. */
export function createManagement(options: ManagementOptions): Management {
  /** Where the last answer came from. */
  let at = 0;
  const askAny = async (call: Call): Promise<string> => {
    const faults: string[] = [];
    const { urls } = options;
    const from = at;
    for (const [step] of urls.entries()) {
      const next = (from + step) % urls.length;
      const base = urls[next] ?? '';
      try {
        const answer = await ask(base, call, options);
        at = next;
        return answer;
      } catch (thrown) {
        faults.push(`${new URL(base).host}: ${messageOf(thrown)}`);
      }
    }
    throw new Error(`the cluster's management does not answer: ${faults.join('; ')}`);
  };
  const pathOf = (device: DeviceAddress): string =>
    `/api/connections/username/${encodeURIComponent(formatDeviceUser(device))}`;
  return {
    async isConnected(device) {
      const list: unknown = JSON.parse(await askAny({ method: 'GET', path: pathOf(device), headers: {} }));
      if (!Array.isArray(list)) throw new Error("the cluster's management gave no list");
      return list.length > 0;
    },
    async disconnect(device, reason) {
      const headers = { 'x-reason': reason.replaceAll(/[^ -~]/g, '?').slice(0, reasonMost) };
      await askAny({ method: 'DELETE', path: pathOf(device), headers });
    },
    async probe() {
      const own: unknown = JSON.parse(await askAny({ method: 'GET', path: '/api/whoami', headers: {} }));
      const tags: unknown = typeof own === 'object' && own !== null && 'tags' in own ? own.tags : [];
      // A list; before 3.9 a text with commas between them.
      const given: readonly unknown[] = Array.isArray(tags) ? tags : String(tags).split(',');
      if (!given.includes('administrator'))
        throw new Error(`its user ${options.user} has no tag administrator: see systemd/rabbitmq/README.md`);
    },
  };
}

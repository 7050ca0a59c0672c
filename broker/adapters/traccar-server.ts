// Reads devices and stored positions from the API of a Traccar server (`/api/devices`, `/api/positions`, by its source of August 2026).
import type { TraccarConfig } from '../config/traccar-config.ts';
import type { TraccarServer } from '../ports/traccar-server.ts';
import { readSecretLine } from './keys/secret-file.ts';

/** How long an answer may take, to its last byte. */
const timeoutMs = 30_000;
/** An hour of a tracker that reports every second is 2 MB. */
const answerBytesMost = 32 * 1024 * 1024;

interface ServerDevice {
  readonly id?: number;
  readonly uniqueId?: string;
}

/** @throws Error for a longer answer. */
async function boundedText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > answerBytesMost) throw new Error(`the answer is longer than ${answerBytesMost} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** Null: none is configured. @throws AppError `config` when its token cannot be read. */
export function openTraccarServer({ url, tokenFile, account, everyS }: TraccarConfig): TraccarServer | null {
  if (url === '') return null;
  const token = readSecretLine('traccar.tokenFile', tokenFile);
  const list = async (path: string, query: Readonly<Record<string, string>>): Promise<readonly unknown[]> => {
    const answer = await fetch(
      `${url.replace(/\/+$/, '')}/api/${path}?${new URLSearchParams(query).toString()}`,
      {
        headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      },
    );
    if (!answer.ok || answer.body === null) {
      await answer.body?.cancel();
      throw new Error(`the answer has the status ${answer.status}`);
    }
    const found: unknown = JSON.parse(await boundedText(answer.body));
    if (Array.isArray(found)) return found;
    throw new Error('the answer is no list');
  };
  return {
    accountID: account,
    everyS,
    async find(uniqueID) {
      const devices = (await list('devices', { uniqueId: uniqueID })) as readonly (ServerDevice | null)[];
      return devices.find((one) => one?.uniqueId === uniqueID)?.id ?? null;
    },
    positions: (serverDeviceID, fromMs, toMs) =>
      list('positions', {
        deviceId: String(serverDeviceID),
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
      }),
  };
}

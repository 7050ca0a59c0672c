// Parts of map files, by range, with the token in the header. Many are asked for at once, so that an answer "later" is waited for.
import { BaseMapFault, type MapPart, type MapRange } from '../../state/base-map.ts';
import { handleRefusal, isEnded, sessionToken, whenSessionBack } from '../session.ts';

/** Times that a part is asked for again. */
const retriesMost = 4;
const waitMost = { leastMs: 500, mostMs: 10_000 } as const;

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('The part is no longer wanted', 'AbortError'));
    });
  });
}

/** Size of the whole file; null when the answer is none of a range. */
function sizeOf(answer: Response, { offset, length }: MapRange): number | null {
  const [, size] = /^bytes \d+-\d+\/(\d+)$/.exec(answer.headers.get('content-range') ?? '') ?? [];
  if (answer.status === 206 && size !== undefined) return Number(size);
  const whole = Number(answer.headers.get('content-length') ?? Number.NaN);
  return offset === 0 && whole <= length ? whole : null;
}

/** A number: to be asked for again, after so many ms at least. */
async function readAnswer(name: string, range: MapRange, answer: Response): Promise<MapPart | number> {
  const { status } = answer;
  // The next session of the same user reads it.
  if (status === 401 && isEnded.get()) return 0;
  if (status === 404) throw new BaseMapFault('gone', name);
  if (status === 416) throw new BaseMapFault('truncated', name, `it has no byte ${range.offset}`);
  if (status === 429 || status === 503) return Number(answer.headers.get('retry-after') ?? 1) * 1000;
  if (!answer.ok) throw new BaseMapFault('unreachable', name, `HTTP ${status}`);
  const size = sizeOf(answer, range);
  if (size === null) {
    // A proxy that takes the range away would send the whole file.
    await answer.body?.cancel();
    throw new BaseMapFault('unreachable', name, 'the answer is no part of the file');
  }
  return { data: await answer.arrayBuffer(), etag: answer.headers.get('etag') ?? '', size };
}

/** @throws BaseMapFault `gone`, `truncated` or `unreachable`; AbortError */
export async function readMapPart(name: string, range: MapRange, signal?: AbortSignal): Promise<MapPart> {
  const { offset, length } = range;
  for (let attempt = 0; ; attempt += 1) {
    let waitMs: number = waitMost.leastMs * 2 ** attempt;
    await whenSessionBack(signal);
    try {
      const token = sessionToken();
      const answer = await fetch(`/maps/${encodeURIComponent(name)}`, {
        headers: {
          authorization: token ?? '',
          range: `bytes=${offset}-${offset + length - 1}`,
        },
        credentials: 'omit',
        cache: 'no-store',
        ...(signal === undefined ? {} : { signal }),
      });
      if (answer.status === 401) handleRefusal(token);
      const part = await readAnswer(name, range, answer);
      if (typeof part !== 'number') return part;
      waitMs = Math.max(waitMs, part);
    } catch (thrown) {
      if (thrown instanceof BaseMapFault || signal?.aborted === true) throw thrown;
      if (attempt >= retriesMost) throw new BaseMapFault('unreachable', name, String(thrown));
    }
    if (attempt >= retriesMost) throw new BaseMapFault('unreachable', name, 'too many requests');
    await sleep(Math.min(waitMs, waitMost.mostMs), signal);
  }
}

// Map files by range, behind the session: `GET /maps/{name}.pmtiles`. A reader asks for many small parts, so they have limits of their own.
// Each answer holds one file handle, which is released however it ends; a client that takes nothing loses its connection as everywhere.
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../src/core/errors.ts';
import { namesTag } from '../../api/base/answer-tag.ts';
import { type Caller, isLinkCaller } from '../../api/base/caller.ts';
import { needTokenRight } from '../../api/base/token-rights.ts';
import { getMaps } from '../../api/service/maps.ts';
import { isRangeFresh, rangeOf } from '../../core/byte-range.ts';
import { createRates } from '../../core/scheduling/rate.ts';
import type { MapFolder, OpenMapFile } from '../../ports/map-folder.ts';
import { createSlots, type Slots } from '../../scheduling/slots.ts';
import type { Exchange } from './fastify-compress.ts';
import { endOf } from './fastify-ending.ts';
import { identify, type RouteHost } from './fastify-route.ts';

/** Parts for one token: a screen of tiles at once, and more while the map is moved. */
const partRate = { burst: 600, perS: 200 } as const;
/** Files open at a time. */
const filesMost = { token: 8, user: 16, account: 64, process: 256 } as const;

interface Maps extends RouteHost {
  readonly folder: MapFolder;
  readonly slots: Slots;
}

const headerOf = (request: FastifyRequest, name: 'if-range' | 'range' | 'if-none-match') => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** @throws AppError `not_found`, `throttled`. */
async function openFile(
  { folder, slots: places }: Maps,
  exchange: Exchange,
  caller: Caller,
): Promise<OpenMapFile> {
  const { name } = exchange.request.params as { readonly name: string };
  const until = endOf(exchange);
  if (places.take(caller, until) !== null) {
    throw new AppError('throttled', 'Too many parts of map files are read at once', { retryAfterS: 1 });
  }
  const file = await folder.open(name);
  if (file === null) {
    throw new AppError('not_found', `There is no map ${JSON.stringify(name)}`, {
      hint: 'getMaps lists the maps.',
    });
  }
  const release = (): void => void file.close().catch(() => undefined);
  if (until.aborted) release();
  else until.addEventListener('abort', release, { once: true });
  return file;
}

function sendPart(exchange: Exchange, file: OpenMapFile): unknown {
  const { request, reply } = exchange;
  const { etag, size } = file;
  const lastModified = new Date(file.changedMs).toUTCString();
  void reply.headers({
    etag,
    'last-modified': lastModified,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
  });
  const held = headerOf(request, 'if-none-match');
  if (held !== undefined && namesTag(held, etag)) return reply.code(304).send();
  void reply.type('application/octet-stream');
  const isHead = request.method === 'HEAD';
  const isPart = !isHead && isRangeFresh(headerOf(request, 'if-range'), { etag, lastModified });
  const range = isPart ? rangeOf(headerOf(request, 'range'), size) : 'whole';
  if (range === 'none') {
    return reply.removeHeader('content-type').header('content-range', `bytes */${size}`).code(416).send();
  }
  const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range;
  if (range !== 'whole') void reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`);
  void reply.header('content-length', String(end - start + 1));
  return isHead || size === 0 ? reply.send() : reply.send(file.read({ start, end }));
}

/** Adds the route. */
export function addMaps(host: RouteHost, folder: MapFolder): void {
  const { clock } = host.services;
  const rates = createRates(partRate);
  const maps: Maps = { ...host, folder, slots: createSlots(filesMost) };
  host.app.route({
    method: ['GET', 'HEAD'],
    url: '/maps/:name',
    async onRequest(request) {
      const caller = await identify(host, host.admission, request);
      if (isLinkCaller(caller)) throw new AppError('forbidden', 'A share link may not read maps');
      needTokenRight(caller, getMaps);
      const { tokenHash } = caller;
      const nowMs = clock.monoMs();
      if (rates.take(tokenHash, nowMs)) return;
      throw new AppError('throttled', `More than ${partRate.perS} parts of maps a second with this token`, {
        retryAfterS: Math.ceil(rates.stateOf(tokenHash, nowMs).waitMs / 1000),
      });
    },
    async handler(request, reply) {
      const exchange = { request, reply };
      if (request.caller === null) throw new Error('the request was not identified');
      return sendPart(exchange, await openFile(maps, exchange, request.caller));
    },
  });
}

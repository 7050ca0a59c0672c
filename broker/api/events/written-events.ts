// Listings of events as JSON text that the reading thread writes: the records of a device, and those of a fleet with one code.
// Blocks of records, and fleet pages made of them, are cached while the store proves them unchanged. Cached text never crosses
// scopes: a device's number, looked up within the caller's scope, is the key of its text. Text of a fleet is cached only for
// callers whose scope is the whole account.
import { type EventTexts, isSamePin, type Pin, pinText } from '../../../src/core/events/event-text.ts';
import { readTextState, type TextState } from '../../store/base/record-revision.ts';
import {
  type Block,
  blockText,
  bytesOfText,
  eventBlocks,
  keyInBlock,
  type Listed,
  recordsMost,
} from '../../store/events/event-blocks.ts';
import type { EventKey, KeyRange } from '../../store/events/event-keys.ts';
import { type KeptPage, mayHaveArrivals, type Part } from '../../store/events/event-pages.ts';
import { type Run, runsWithin } from '../../store/slices/slices.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Caller } from '../base/caller.ts';
import { encodeCursor } from '../base/cursor.ts';
import type { WrittenList } from '../base/operation.ts';
import type { ListedEvent, ListedMetadata } from '../base/shapes.ts';
import { unknownDevice } from '../base/visible-device.ts';
import { type ListPage, type ListQuery, readQuery, type Span } from './event-list.ts';

/** Bytes and buffers that are handed over at once. */
const pieceBytes = 1024 * 1024;
const buffersMost = 256;
/** Shorter texts are joined; longer ones are sent as they are kept, without a copy. */
const shortBytes = 4 * 1024;
/** Records that a listing reads before ordinary reads have precedence: a short answer is waited for. */
const promptRecords = 500;
/** Blocks of a listing that are remembered for its second list. */
const rememberedMost = 5000;

export interface WrittenListing {
  readonly page: ListPage;
  /** Members that were asked for; null: all. */
  readonly fields: ReadonlySet<string> | null;
  /** The records. */
  readonly records: () => WrittenList<ListedEvent>;
  /** The same records as entries of metadata; to be taken before `records`. */
  readonly pins: () => WrittenList<ListedMetadata>;
}

interface Selection {
  /** Path of the listing with its variables filled in: a cursor fits no other. */
  readonly subject: string;
  readonly span: Span;
  readonly query: ListQuery;
  readonly listed: { readonly deviceID: string } | { readonly code: number };
  /** Members that `fields` may name. */
  readonly members: readonly string[];
}

/** One listing of one caller. */
interface Listing {
  readonly services: ApiServices;
  readonly range: KeyRange;
  readonly listed: Listed;
  readonly fields: readonly string[] | null;
  /** Names what is listed in the cache; null: nothing of it is kept. */
  readonly cacheKey: string | null;
  readonly revision: string;
  /** Bytes that it may still add to the cache. */
  left: number;
  /** Records that it may still read without waiting for others. */
  promptLeft: number;
}

/** Texts of an answer that follow each other. */
interface Piece {
  readonly texts: readonly EventTexts[];
  /** True: they were read just now, or nothing was found; others have their turn. */
  readonly isTurn: boolean;
}

const proofOf = ({ revision }: Listing, { count, lastNo }: Block): string => `${revision} ${count} ${lastNo}`;

/** Null where the text depends on more than its key says. */
function keyOf({ cacheKey, range }: Listing, block: Block, limit: number): string | null {
  const { fromMs, toMs, after } = block;
  if (cacheKey === null || toMs > range.plausibleMs) return null;
  const begin = after === null ? '' : `${after.timestampMs}:${after.eventNo}`;
  // A whole block has one text, which takes the place of that before the last change.
  const size = limit === block.count ? 'whole' : String(limit);
  return `${cacheKey} ${fromMs} ${toMs} ${begin} ${size}`;
}

/** A text that is kept; null when it must be read. */
function keptText(
  listing: Listing,
  block: Block,
  of: { limit: number; hasPins: boolean },
): EventTexts | null {
  const key = keyOf(listing, block, of.limit);
  const kept = key === null ? null : listing.services.eventTexts.cache.find(key, proofOf(listing, block));
  return kept !== null && (kept.pins !== null || !of.hasPins) ? kept : null;
}

async function readText(
  listing: Listing,
  block: Block,
  of: { limit: number; hasPins: boolean },
): Promise<EventTexts> {
  const { services, range, listed, fields } = listing;
  const { archive, db, eventTexts } = services;
  listing.promptLeft -= of.limit;
  const store = listing.promptLeft >= 0 ? db : archive;
  const text = await blockText(store, range, listed, { block, fields, ...of });
  const key = keyOf(listing, block, of.limit);
  const bytes = bytesOfText(text);
  if (key === null || bytes > listing.left) return text;
  listing.left -= bytes;
  const proof = proofOf(listing, block);
  // A listing with entries of metadata needs its texts twice.
  if (of.hasPins || eventTexts.asked.find(key, proof) !== null) eventTexts.cache.keep(key, proof, text);
  else eventTexts.asked.keep(key, proof, bytes);
  return text;
}

/** The texts of a part in order, each of at most `recordsMost` records. */
async function* textsOf(listing: Listing, part: Part, hasPins: boolean): AsyncGenerator<Piece> {
  let { after, take } = part;
  while (take > 0) {
    const of = { limit: Math.min(take, recordsMost), hasPins };
    const block = { ...part, after };
    const kept = keptText(listing, block, of);
    const text = kept ?? (await readText(listing, block, of));
    if (text.count > 0) yield { texts: [text], isTurn: kept === null };
    // Some were removed meanwhile.
    if (text.count < of.limit) return;
    take -= text.count;
    after = text.last;
  }
}

type Parts = () => AsyncIterable<readonly Part[]>;

async function* piecesOf(listing: Listing, parts: Parts, hasPins: boolean): AsyncGenerator<Piece> {
  for await (const some of parts()) {
    let texts: EventTexts[] = [];
    for (const part of some) {
      const kept = part.take > recordsMost ? null : keptText(listing, part, { limit: part.take, hasPins });
      if (kept !== null) {
        texts.push(kept);
        continue;
      }
      if (texts.length > 0) yield { texts, isTurn: false };
      texts = [];
      yield* textsOf(listing, part, hasPins);
    }
    yield { texts, isTurn: some.length === 0 };
  }
}

/** Gathers texts; fresh reads are sent at once, so others have their turn. */
async function* gathered(
  texts: AsyncIterable<{ readonly bytes: readonly Uint8Array[]; readonly isTurn: boolean }>,
): AsyncGenerator<readonly Uint8Array[]> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const { bytes, isTurn } of texts) {
    for (const one of bytes) {
      if (one.length === 0) continue;
      waiting.push(one);
      length += one.length;
      if (length < pieceBytes && waiting.length < buffersMost) continue;
      yield joinShort(waiting);
      [waiting, length] = [[], 0];
    }
    if (!isTurn) continue;
    yield joinShort(waiting);
    [waiting, length] = [[], 0];
  }
  if (length > 0) yield joinShort(waiting);
}

/** The same bytes in fewer buffers. */
function joinShort(buffers: readonly Uint8Array[]): readonly Uint8Array[] {
  const joined: Uint8Array[] = [];
  let short: Uint8Array[] = [];
  const end = (): void => {
    const [first] = short;
    if (first !== undefined) joined.push(short.length === 1 ? first : Buffer.concat(short));
    short = [];
  };
  for (const buffer of buffers) {
    if (buffer.length < shortBytes) short.push(buffer);
    else {
      end();
      joined.push(buffer);
    }
  }
  end();
  return joined;
}

async function* recordTexts(listing: Listing, parts: Parts) {
  for await (const { texts, isTurn } of piecesOf(listing, parts, false)) {
    yield { bytes: texts.map(({ records }) => records), isTurn };
  }
}

const entry = (pin: Pin): Uint8Array => Buffer.from(`,${pinText(pin)}`);

async function* pinTexts(listing: Listing, parts: Parts) {
  let open = null as Pin | null;
  for await (const { texts, isTurn } of piecesOf(listing, parts, true)) {
    const bytes: Uint8Array[] = [];
    for (const { firstPin, pins, lastPin } of texts) {
      if (firstPin === null) continue;
      if (open !== null && isSamePin(open, firstPin)) {
        open = { ...open, count: open.count + firstPin.count };
      } else {
        if (open !== null) bytes.push(entry(open));
        open = firstPin;
      }
      if (lastPin === null) continue;
      bytes.push(entry(open));
      if (pins !== null) bytes.push(pins);
      open = lastPin;
    }
    yield { bytes, isTurn };
  }
  if (open !== null) yield { bytes: [entry(open)], isTurn: false };
}

const whole = (block: Block): Part => ({ ...block, take: block.count });

/** The blocks of a whole listing; those of one that is not too long are read once for both of its lists. */
function remembered(open: () => AsyncIterable<readonly Block[]>): Parts {
  let known: readonly (readonly Part[])[] | null = null;
  return async function* pages() {
    if (known !== null) return yield* known;
    const seen: (readonly Part[])[] = [];
    let count = 0;
    for await (const blocks of open()) {
      const parts = blocks.map(whole);
      count += 1 + parts.length;
      if (count <= rememberedMost) seen.push(parts);
      yield parts;
    }
    if (count <= rememberedMost) known = seen;
  };
}

interface Page {
  readonly parts: readonly Part[];
  readonly more: boolean;
}

async function findPage(blocks: AsyncIterable<readonly Block[]>, limit: number): Promise<Page> {
  const parts: Part[] = [];
  let left = limit;
  for await (const some of blocks) {
    for (const block of some) {
      if (left === 0) return { parts, more: true };
      const take = Math.min(left, block.count);
      parts.push({ ...block, take });
      if (take < block.count) return { parts, more: true };
      left -= take;
    }
  }
  return { parts, more: false };
}

/** The key of the last record of a page. */
async function lastKeyOf(listing: Listing, part: Part): Promise<EventKey> {
  const { services, range, listed } = listing;
  const key = keyOf(listing, part, part.take);
  const kept = key === null ? null : services.eventTexts.cache.find(key, proofOf(listing, part));
  const found =
    kept?.last ?? (await keyInBlock(services.archive, range, listed, { block: part, nth: part.take }));
  // Some were removed meanwhile: what follows the block is next.
  return found ?? { timestampMs: part.toMs, eventNo: range.upToNo };
}

/** Validator of a page besides newly stored events: text revisions, removed events, dropped slices. */
const pageProof = ({ revision, removedRevision }: TextState, runs: readonly Run[]): string =>
  [revision, removedRevision, ...runs.map((run) => `${run.sliceNo}:${run.fromMs}-${run.toMs}`)].join(' ');

/** Null where pages are not kept: of a device most events are routine, which no index finds by their numbers. */
function pageKeyOf({ cacheKey, listed, range }: Listing, limit: number): string | null {
  const { fromMs, toMs, after, plausibleMs } = range;
  if (cacheKey === null || listed.of !== 'code' || toMs > plausibleMs) return null;
  const begin = after === null ? '' : `${after.timestampMs}:${after.eventNo}`;
  return `${cacheKey} ${fromMs} ${toMs} ${begin} ${limit}`;
}

/** True when a page that was kept has the records that it would be found with now. */
async function isCurrent({ services, range, listed }: Listing, page: KeptPage): Promise<boolean> {
  if (page.upToNo === range.upToNo) return true;
  if (page.upToNo > range.upToNo || listed.of !== 'code') return false;
  const last = page.parts.at(-1);
  // Behind a page that is full nothing changes it.
  const toMs = page.more && last !== undefined ? last.toMs : range.toMs;
  const span = { accountID: range.scope.accountID, code: listed.code, fromMs: range.fromMs, toMs };
  return !(await mayHaveArrivals(services.db, span, { after: page.upToNo, upTo: range.upToNo }));
}

interface PageRequest {
  readonly subject: string;
  readonly limit: number;
  readonly proof: string;
  readonly open: () => AsyncIterable<readonly Block[]>;
}

/** The page as it is now: found, or kept and proven. */
async function readPage(listing: Listing, { subject, limit, proof, open }: PageRequest): Promise<KeptPage> {
  const { pages } = listing.services.eventTexts;
  const { upToNo } = listing.range;
  const key = pageKeyOf(listing, limit);
  const kept = key === null ? null : pages.find(key, proof);
  const isKept = kept !== null && (await isCurrent(listing, kept));
  const { parts, more } = isKept ? kept : await findPage(open(), limit);
  const last = parts.at(-1);
  const nextOf = async () =>
    more && last !== undefined ? encodeCursor(subject, await lastKeyOf(listing, last)) : null;
  const page = { parts, more, next: isKept ? kept.next : await nextOf(), upToNo };
  if (key !== null) pages.keep(key, proof, page);
  return page;
}

function listedOf(
  caller: Caller,
  selection: Selection,
  state: TextState,
): Pick<Listing, 'listed' | 'cacheKey'> {
  const { listed } = selection;
  if ('deviceID' in listed) {
    if (state.device === null) throw unknownDevice(listed.deviceID);
    const { deviceNo, texts } = state.device;
    return { listed: { of: 'device', deviceID: listed.deviceID, texts }, cacheKey: `device ${deviceNo}` };
  }
  const isLimited = caller.scope.limitedTo !== null || state.hasDeleted;
  const cacheKey = isLimited ? null : `code ${state.accountNo} ${listed.code}`;
  return { listed: { of: 'code', code: listed.code, isLimited }, cacheKey };
}

/**
 * Finds the records of an answer. A page's records are known before any is read; a whole listing is read while it is sent, from
 * the events stored at its request.
 * @throws AppError `not_found` when the caller sees no such device, `invalid_content` for a wrong query.
 */
export async function findWritten(
  services: ApiServices,
  caller: Caller,
  selection: Selection,
): Promise<WrittenListing> {
  const { subject, span, query, members } = selection;
  const deviceID = 'deviceID' in selection.listed ? selection.listed.deviceID : null;
  const [state, runs] = await Promise.all([
    readTextState(services.db, caller.scope, deviceID),
    runsWithin(services.db, span),
  ]);
  if (state === null) throw new Error(`there is no account of the caller ${caller.userID}`);
  const { listed, cacheKey } = listedOf(caller, selection, state);
  const { limit, fields, after, sinceNo, isAsked } = readQuery(query, { subject, members });
  const range: KeyRange = { ...span, scope: caller.scope, after, sinceNo, upToNo: state.lastNo };
  const isKept = fields === null && sinceNo === 0;
  const listing: Listing = {
    services,
    range,
    listed,
    fields: fields === null ? null : [...fields],
    cacheKey: isKept ? cacheKey : null,
    revision: state.revision,
    left: services.eventTexts.limits.listingBytes,
    promptLeft: promptRecords,
  };
  const upTo = isAsked ? { upTo: String(state.lastNo) } : {};
  const open = () => eventBlocks(services, range, { listed, runs, most: limit });
  const listOf = (parts: Parts) => ({
    records: () => ({ writtenItems: gathered(recordTexts(listing, parts)) }),
    pins: () => ({ writtenItems: gathered(pinTexts(listing, parts)) }),
  });
  if (limit === null) return { page: upTo, fields, ...listOf(remembered(open)) };
  const proof = pageProof(state, runs);
  const { parts, more, next } = await readPage(listing, { subject, limit, proof, open });
  const onePage = async function* onePage() {
    yield parts;
  };
  return { page: { more, next, ...upTo }, fields, ...listOf(onePage) };
}

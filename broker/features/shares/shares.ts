// Share links as users of the account make, list and revoke them. The token of a link is shown once and kept as a hash.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError } from '../../../src/core/errors.ts';
import { hexId } from '../../../src/core/ids.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { invalidAt, lineText } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { needDevice } from '../../api/base/visible-device.ts';
import { formatShareToken, tokenRandomBytes } from '../../core/accounts/session.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import {
  forgetShares,
  insertShare,
  isRevocable,
  isShared,
  listShares,
  type OpenShare,
  revokeShare,
  type ShareRow,
  seesShare,
  sharesMost,
} from './share-statements.ts';

const lifeMostS = 7 * 24 * 3600;
const tripMostS = 7 * 24 * 3600;
/** Shares in one answer: those that are open, and as many that ended lately. */
const listedMost = 2 * sharesMost;
const epochMost = 9_999_999_999;

const epoch = (description: string) =>
  Type.Integer({ minimum: 0, maximum: epochMost, description: `${description} (epoch seconds)` });
const nowSOf = ({ clock }: Pick<ApiServices, 'clock'>): number => Math.floor(clock.utcMs() / 1000);

const members = {
  shareID: Type.String({ description: 'Names the share; gives no right' }),
  deviceID: Type.String({ description: 'The vehicle' }),
  kind: Type.Enum(['live', 'trip'], {
    description: '`live`: its last position; `trip`: its track of a time',
  }),
  title: Type.String({ description: 'For the holder; empty unless given' }),
  startTime: epoch('Beginning of a trip; 0 for a live share'),
  endTime: epoch('End of a trip; 0 for a live share'),
  expires: epoch('When it ends'),
} as const;

const listed = Type.Object({
  ...members,
  createdBy: Type.String({ description: 'User who made it' }),
  createdOn: epoch('When it was made'),
  uses: Type.Integer({
    minimum: 0,
    description: 'How often it was opened; at most one is counted in a second',
  }),
  lastUsedOn: epoch('When it was opened last; 0 = never'),
  revokedOn: epoch('When it was revoked; 0 = it was not'),
});

const exampleMembers = {
  shareID: '7a1c3e5092b4d6f8a0c2e4f6081a3b5d',
  deviceID: 'truck-17',
  kind: 'live' as const,
  title: 'Your delivery',
  startTime: 0,
  endTime: 0,
  expires: 1763769600,
};

function view(row: ShareRow): Static<typeof listed> {
  return {
    shareID: row.shareID,
    deviceID: row.deviceID,
    kind: row.kind,
    title: row.title,
    startTime: epochSeconds(row.fromMs),
    endTime: epochSeconds(row.toMs),
    expires: row.expiresS,
    createdBy: row.userID,
    createdOn: row.createdS,
    uses: row.uses,
    lastUsedOn: row.lastUsedS,
    revokedOn: row.revokedS ?? 0,
  };
}

interface Asked {
  readonly expires: number;
  readonly startTime?: number;
  readonly endTime?: number;
}

/** The span of a trip; null for a live share. @throws AppError `invalid_content`. */
function tripOf({ expires, startTime, endTime }: Asked, nowS: number) {
  if (expires <= nowS || expires > nowS + lifeMostS)
    throw invalidAt('/expires', 'must lie ahead, by at most 7 days');
  if (startTime === undefined && endTime === undefined) return null;
  if (startTime === undefined) throw invalidAt('/startTime', 'is missing beside endTime');
  if (endTime === undefined) throw invalidAt('/endTime', 'is missing beside startTime');
  if (endTime < startTime || endTime - startTime > tripMostS)
    throw invalidAt('/endTime', 'must be after startTime, by at most 7 days');
  if (endTime > nowS) throw invalidAt('/endTime', 'must not lie ahead: a trip is over when it is shared');
  return { fromMs: startTime * 1000, toMs: endTime * 1000 + 999 };
}

const create = operation({
  id: 'createShare',
  method: 'POST',
  path: '/share/create/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Shares',
  summary: 'Share a vehicle or a trip by a link',
  description: `Gives a token for somebody without a login, shown this once; an app makes a link of it. Its holder sees the last position
of this one vehicle (\`viewShare\`, \`streamShare\`), or with \`startTime\` and \`endTime\` (at most 7 days, not ahead) the track of that time
(\`shareTrack\`), and \`title\`: no names, no ids, no states, nothing else of the account, and the holder can change nothing.

It ends at \`expires\` (at most 7 days ahead), by \`revokeShare\`, when the device is deleted, and as soon as the user who made it could not make it now:
is suspended, deleted, no operator any more, or does not see the device; a share that an API token made ends with that token. An account
has at most ${sharesMost} open shares. Making and revoking stand in the audit log.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: Type.String({ description: 'The vehicle' }),
      expires: Type.Integer({ minimum: 1, maximum: epochMost, description: 'When it ends (epoch seconds)' }),
      title: Type.Optional(lineText(64, 'For the holder')),
      startTime: Type.Optional(
        Type.Integer({ minimum: 1, maximum: epochMost, description: 'Beginning of a trip (epoch seconds)' }),
      ),
      endTime: Type.Optional(
        Type.Integer({ minimum: 1, maximum: epochMost, description: 'End of a trip (epoch seconds)' }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    ...members,
    token: Type.String({ description: '`share-<random>`; sent in the header `authorization`, shown once' }),
  }),
  errors: ['not_found', 'conflict'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { deviceID: 'truck-17', expires: 1763769600, title: 'Your delivery' },
    result: {
      ...exampleMembers,
      token: 'share-0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
    },
  },
  async run({ body, caller, source }, services) {
    const { db, entropy } = services;
    const { deviceID, expires: expiresS, title = '' } = body;
    const nowS = nowSOf(services);
    const trip = tripOf(body, nowS);
    await needDevice(services, caller, deviceID);
    const token = formatShareToken(entropy.bytes(tokenRandomBytes));
    const shareID = hexId(entropy.bytes(16));
    const kind: OpenShare['kind'] = trip === null ? 'live' : 'trip';
    const { fromMs, toMs } = trip ?? { fromMs: null, toMs: null };
    const detail = { shareID, kind, expires: expiresS };
    const audited = { action: 'share.create', object: deviceID, detail, onlyIf: isShared(shareID) };
    const [, inserted] = await db.write([
      forgetShares(caller.accountID, nowS),
      insertShare({
        shareID,
        tokenHash: hashToken(token),
        scope: caller.scope,
        userID: caller.userID,
        deviceID,
        createdS: nowS,
        byTokenHash: caller.scopes === null ? null : caller.tokenHash,
        kind,
        title,
        fromMs,
        toMs,
        expiresS,
      }),
      auditEntry(services, { caller, source }, audited),
    ]);
    if (inserted?.changes !== 1) {
      throw new AppError('conflict', `The account has ${sharesMost} open shares, which is the most`, {
        hint: 'Revoke one that is no longer needed: see getShares.',
      });
    }
    const times = { startTime: body.startTime ?? 0, endTime: body.endTime ?? 0 };
    return { ...ok, shareID, deviceID, kind, title, ...times, expires: expiresS, token };
  },
});

const list = operation({
  id: 'getShares',
  method: 'GET',
  path: '/share/shares/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'read', ofDevices: true },
  tag: 'Shares',
  summary: 'Shares of vehicles',
  description: `The newest ${listedMost} shares of the vehicles that the caller sees, newest first, of all users; those that ended stay for
30 days. Never their tokens.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, shares: Type.Array(listed, { description: 'Newest first' }) }),
  errors: [],
  effects: false,
  examples: {
    result: {
      shares: [
        {
          ...exampleMembers,
          createdBy: 'dispatch',
          createdOn: 1763683200,
          uses: 3,
          lastUsedOn: 1763683260,
          revokedOn: 0,
        },
      ],
    },
  },
  async run({ caller }, { db }) {
    return { ...ok, shares: (await listShares(db, caller.scope, listedMost)).map(view) };
  },
});

const revoke = operation({
  id: 'revokeShare',
  method: 'POST',
  path: '/share/revoke/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Shares',
  summary: 'End a share',
  description: `Its token is worth nothing from then on; streams that it opened end within a second. Every operator who sees the vehicle
may do it. A share that has been revoked answers like the first time; one that the caller does not see answers 404.`,
  params: Type.Object({}),
  body: Type.Object(
    { shareID: Type.String({ minLength: 1, maxLength: 64, description: 'As listed by `getShares`' }) },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { body: { shareID: exampleMembers.shareID } },
  async run({ body: { shareID }, caller, source }, services) {
    const { scope } = caller;
    const audited = { action: 'share.revoke', object: shareID, onlyIf: isRevocable(scope, shareID) };
    await services.db.write([
      auditEntry(services, { caller, source }, audited),
      revokeShare(scope, { shareID, atS: nowSOf(services) }),
    ]);
    if (await seesShare(services.db, scope, shareID)) return ok;
    throw new AppError('not_found', `There is no share ${JSON.stringify(shareID)}`);
  },
});

export const shareOperations = [create, list, revoke] as const;

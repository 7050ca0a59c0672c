// The holder of a share link as the caller of an operation.
import type { LinkCaller, LinkCallers } from '../../api/base/caller.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import { type OpenShare, openShares } from './share-statements.ts';

interface ShareCaller extends LinkCaller {
  readonly link: OpenShare;
}

const isShareCaller = (caller: LinkCaller): caller is ShareCaller => 'shareID' in caller.link;

/** @throws Error for the caller of another feature's link, which no operation of shares takes. */
export function shareOf(caller: LinkCaller): OpenShare {
  if (!isShareCaller(caller)) throw new Error('the caller holds no share');
  return caller.link;
}

export const shareCallerOf: LinkCallers = async (token, { db, clock }) => {
  const tokenHash = hashToken(token);
  const [link] = await openShares(db, [tokenHash], Math.floor(clock.utcMs() / 1000));
  if (link === undefined) return null;
  const { accountID, deviceNo, shareID } = link;
  const limitedTo = `share ${shareID}`;
  const within = { userID: null, deviceNos: [deviceNo], groupNos: [] };
  const scope = { accountID, limitedTo, within };
  // The weakest role and no scope: what does not know of shares refuses it.
  const rights = { role: 'viewer', scopes: [], fleetRevision: 0 } as const;
  return { accountID, userID: limitedTo, tokenHash, scope, link, ...rights };
};

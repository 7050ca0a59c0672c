// Shares of the account as the console lists and asks for them. Pure.
import type { Share } from '../../api/operations.ts';

export const shareFilters = ['open', 'ended', 'all'] as const;
export type ShareFilter = (typeof shareFilters)[number];

export const shareKinds = ['live', 'trip'] as const;
export type ShareKind = (typeof shareKinds)[number];

/** Hours that a share may last. */
export const lifeChoices = ['1', '4', '24', '72', '168'] as const;
export type Life = (typeof lifeChoices)[number];

/** The service takes 7 days at most; its clock may be behind this one, s. */
const lifeMostS = 7 * 24 * 3600 - 60;

/** End of a share that is made now, epoch seconds. */
export const expiresOf = (life: Life, nowS: number): number =>
  nowS + Math.min(Number(life) * 3600, lifeMostS);

export type ShareStanding = 'open' | 'expired' | 'revoked';

export function standingOf({ revokedOn, expires }: Share, nowS: number): ShareStanding {
  if (revokedOn !== 0) return 'revoked';
  return expires <= nowS ? 'expired' : 'open';
}

/** @param vehicle null: of all vehicles. */
export function chosenShares(
  shares: readonly Share[],
  chosen: { readonly show: ShareFilter; readonly vehicle: string | null; readonly nowS: number },
): readonly Share[] {
  const { show, vehicle, nowS } = chosen;
  return shares.filter((share) => {
    if (vehicle !== null && share.deviceID !== vehicle) return false;
    return show === 'all' || (standingOf(share, nowS) === 'open') === (show === 'open');
  });
}

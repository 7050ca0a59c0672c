// A cut or unlock order on a screen: relay, address, life, states and their tones. Pure.
import { type FeatureName, featureNames } from '../../../../src/core/events/event.ts';
import type { CommandRecord, Device } from '../../api/operations.ts';

/** The relay that an order moves. The two are never said in one another's words. */
export type Relay = FeatureName;

/** The relay that a command is about; undefined: it is about none. */
export const relayOf = (feature: unknown): Relay | undefined => featureNames.find((one) => one === feature);

/** Members of an address that open the screen of an order, by its relay. */
export const orderMembers = { enginecutoff: 'cut', cargoaccess: 'unlock' } as const;

/** What the member of an address names. */
export type CutTarget =
  | { readonly kind: 'ask' }
  | { readonly kind: 'command' | 'request'; readonly id: string };

/** @returns null for what names nothing. */
export function parseCut(text: string | undefined): CutTarget | null {
  if (text === 'ask') return { kind: 'ask' };
  const [, kind, id] = /^(command|request)-([0-9A-Za-z]{1,64})$/.exec(text ?? '') ?? [];
  if (id === undefined) return null;
  return { kind: kind === 'command' ? 'command' : 'request', id };
}

export const cutText = (kind: 'command' | 'request', id: string): string => `${kind}-${id}`;

/** The part of an address that opens the screen of an order. @param text `ask`, or of `cutText`. */
export const orderSearch = (
  relay: Relay,
  text: string,
): { readonly cut?: string; readonly unlock?: string } =>
  relay === 'enginecutoff' ? { cut: text } : { unlock: text };

/** The order that an address opens; null: none. One screen has room for one: a cut goes first. */
export function orderIn(search: {
  readonly cut?: string | undefined;
  readonly unlock?: string | undefined;
}): { readonly relay: Relay; readonly target: CutTarget } | null {
  for (const relay of ['enginecutoff', 'cargoaccess'] as const) {
    const target = parseCut(search[orderMembers[relay]]);
    if (target !== null) return { relay, target };
  }
  return null;
}

/** Address of the waiting cut or unlock of a vehicle; null: none waits. */
export function pendingOf({ state }: Device, relay: Relay): string | null {
  const { pendingState, commandID, approvalID, commandState } = state[relay];
  if (pendingState !== '1') return null;
  if (commandID !== null) return cutText('command', commandID);
  return commandState === 'approval' && approvalID !== null ? cutText('request', approvalID) : null;
}

/** The service takes 200 characters; the code and `: ` stand before the note. */
export const noteMost = 180;

/** Seconds that an order may wait for the vehicle: a cut up to a day, an unlock up to an hour, as it is needed at once. */
export const orderLifeS = {
  enginecutoff: [600, 1800, 3600, 14_400, 28_800, 86_400],
  cargoaccess: [60, 300, 900, 1800, 3600],
} as const satisfies Record<Relay, readonly number[]>;
export const usualLifeS = { enginecutoff: 1800, cargoaccess: 300 } as const satisfies Record<Relay, number>;

/** The life that a text or number names, else the usual one. */
export const lifeOf = (value: unknown, relay: Relay): number =>
  orderLifeS[relay].find((one) => one === value) ?? usualLifeS[relay];

export type EndState = 'confirmed' | 'refused' | 'expired' | 'cancelled' | 'superseded' | 'unknown';
export type LiveState = 'requested' | 'sent' | 'received' | 'armed' | 'executing';
export type CutState = 'approval' | LiveState | EndState;

const liveStates: readonly LiveState[] = ['requested', 'sent', 'received', 'armed', 'executing'];
const endStates: readonly EndState[] = [
  'confirmed',
  'refused',
  'expired',
  'cancelled',
  'superseded',
  'unknown',
];

/** A state that this console does not know counts as an unknown outcome, never as done. */
export function cutStateOf(commandState: string): CutState {
  return [...liveStates, ...endStates].find((one) => one === commandState) ?? 'unknown';
}

/** Tone of a state: an order that was not carried out leaves the vehicle safe, so none is red. */
export function toneOf(state: CutState): 'busy' | 'ok' | 'look' | 'off' {
  if (state === 'confirmed') return 'ok';
  if (state === 'refused' || state === 'expired' || state === 'unknown') return 'look';
  return state === 'cancelled' || state === 'superseded' ? 'off' : 'busy';
}

/** Until the relay moves. The service decides. */
export const canWithdraw = ({ commandState, hasEnded, cancelledBy }: CommandRecord): boolean =>
  !hasEnded && commandState !== 'executing' && commandState !== 'unknown' && cancelledBy === '';

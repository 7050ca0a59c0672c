// Selection of a live-stream reader, and its message texts: '' for unselected messages.

import type { Scope } from '../core/accounts/scope.ts';
import type { LiveChange, LiveKind } from '../core/live/live-kinds.ts';
import { changeMessage, deviceMessage, eventMessage, type LiveEvent } from '../core/live/live-message.ts';
import type { Presence } from '../core/live/live-presence.ts';

export interface LiveSelection {
  readonly kinds: ReadonlySet<LiveKind>;
  /** Null: every device of the scope. */
  readonly deviceIDs: ReadonlySet<string> | null;
  /** Status codes of events; null: all that are not routine. */
  readonly codes: ReadonlySet<number> | null;
  /** Members of the data of each message; null: all. */
  readonly fields: ReadonlySet<string> | null;
}

/** Texts of one message, by the choice of members: each is made once, however many readers there are. */
export type Texts = Map<string, string>;

/** The texts of messages for one scope and selection. */
export interface Composer {
  /** Whether it ever sends this kind. */
  wants(kind: LiveKind): boolean;
  event(event: LiveEvent, texts?: Texts): string;
  device(presence: Presence, texts?: Texts): string;
  change(change: LiveChange, texts?: Texts): string;
}

const sorted = (values: ReadonlySet<string | number> | null): readonly string[] | null =>
  values === null ? null : [...values].map(String).toSorted();

/** The same text for two readers who get the same messages. */
export function keyOf(scope: Scope, { kinds, deviceIDs, codes, fields }: LiveSelection): string {
  return JSON.stringify([
    scope.accountID,
    scope.limitedTo,
    sorted(kinds),
    sorted(deviceIDs),
    sorted(codes),
    sorted(fields),
  ]);
}

/** Without the name of a route, which may be planned for devices of other groups only. */
function withoutRoute(change: LiveChange): LiveChange {
  if (change.kind !== 'zone' || change.data.zoneType !== 'route') return change;
  return { ...change, data: { ...change.data, zoneID: null } };
}

export function createComposer(scope: Scope, selection: LiveSelection): Composer {
  const { kinds, deviceIDs, codes, fields } = selection;
  const isLimited = scope.limitedTo !== null;
  // A token that names devices may not read the zones of the account; what a vehicle took or refused concerns its device.
  const isHidden = ({ kind, deviceID }: LiveChange): boolean =>
    scope.within !== undefined && kind === 'zone' && deviceID === null;
  const choice = `${isLimited} ${JSON.stringify(sorted(fields))}`;
  const isOf = (deviceID: string | null): boolean =>
    deviceIDs === null || deviceID === null || deviceIDs.has(deviceID);
  const made = (texts: Texts | undefined, make: () => string): string => {
    const known = texts?.get(choice);
    if (known !== undefined) return known;
    const text = make();
    texts?.set(choice, text);
    return text;
  };
  return {
    wants: (kind) => kinds.has(kind),
    event(event, texts) {
      const isWanted =
        kinds.has('event') && isOf(event.deviceID) && (codes === null || codes.has(event.statusCode));
      return isWanted ? made(texts, () => eventMessage(event, fields)) : '';
    },
    device: (presence, texts) =>
      kinds.has('device') && isOf(presence.deviceID)
        ? made(texts, () => deviceMessage(presence, fields))
        : '',
    change: (change, texts) =>
      kinds.has(change.kind) && isOf(change.deviceID) && !isHidden(change)
        ? made(texts, () => changeMessage(isLimited ? withoutRoute(change) : change, fields))
        : '',
  };
}

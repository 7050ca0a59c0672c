// The kinds of messages of a live stream and the members of their data, from which a reader chooses. Pure.
// A further kind is a line here, a source in `broker/store/live/` and its line in `broker/live/changes.ts`.

/** Members of the data of each kind. Every message about one device has its `deviceID`. */
export const liveMembers = {
  event: [
    'deviceID',
    'eventID',
    'statusCode',
    'statusDescription',
    'timestamp',
    'creationTime',
    'isPositionValid',
    'latitude',
    'longitude',
    'speed',
    'heading',
    'geozoneID',
    'commandID',
    'commandState',
  ],
  device: [
    'deviceID',
    'deviceLastHeartbeat',
    'deviceLastValidTimestamp',
    'deviceLastValidLatitude',
    'deviceLastValidLongitude',
    'deviceLastValidSpeed',
    'deviceLastValidHeading',
    'deviceLastGeozoneID',
    'fuelLevelAverage',
  ],
  command: [
    'commandID',
    'deviceID',
    'feature',
    'state',
    'pendingState',
    'pendingReason',
    'verdict',
    'commandState',
    'expires',
  ],
  presence: ['deviceID', 'online', 'since', 'cause'],
  approval: [
    'approvalID',
    'deviceID',
    'feature',
    'state',
    'approvalState',
    'reason',
    'requestedBy',
    'requested',
    'expires',
    'decidedBy',
    'decided',
    'decidedReason',
    'commandID',
    'endCause',
    'secondUser',
    'signing',
  ],
  zone: ['zoneType', 'zoneID', 'change', 'deviceID', 'version', 'heldVersion', 'changed'],
  release: [
    'deviceID',
    'agentVersion',
    'agentSince',
    'commandID',
    'version',
    'commandState',
    'detail',
    'expires',
    'updated',
  ],
  alarm: [
    'alarmID',
    'version',
    'deviceID',
    'deviceDisplayName',
    'statusCode',
    'statusDescription',
    'priority',
    'alarmState',
    'owner',
    'opened',
    'changed',
    'firstTaken',
    'untakenSince',
    'count',
    'firstEventID',
    'firstTimestamp',
    'lastEventID',
    'lastTimestamp',
    'creationTime',
    'isPositionValid',
    'latitude',
    'longitude',
    'geozoneID',
    'commandID',
    'commandState',
    'late',
    'ended',
    'shelvedUntil',
    'shelvedBy',
    'closed',
    'closedBy',
    'closeReason',
    'note',
    'notes',
    'escalations',
    'escalated',
  ],
} as const;

export type LiveKind = keyof typeof liveMembers;
export const liveKinds = Object.keys(liveMembers) as readonly LiveKind[];

/** Kinds that are read from the store after each commit, unlike `event` and `device`. */
export type ChangeKind = Exclude<LiveKind, 'event' | 'device'>;

/** A message about something that changed in the store. */
interface ChangeOf<Kind extends ChangeKind> {
  readonly kind: Kind;
  readonly accountID: string;
  /** Null: it concerns every device of the account. */
  readonly deviceNo: number | null;
  readonly deviceID: string | null;
  /** What it is about, unique within its kind: a message with the same key replaces an earlier one. */
  readonly key: string;
  /** Broker's time of the change, UTC ms. */
  readonly atMs: number;
  readonly data: Readonly<Record<(typeof liveMembers)[Kind][number], unknown>>;
}

export type LiveChange<Kind extends ChangeKind = ChangeKind> = { [K in Kind]: ChangeOf<K> }[Kind];

/** The data with the chosen members only, and always `deviceID`. @param fields null: all. */
export function chosenOf<T extends object>(data: T, fields: ReadonlySet<string> | null): Partial<T> {
  if (fields === null) return data;
  return Object.fromEntries(
    Object.entries(data).filter(([name]) => name === 'deviceID' || fields.has(name)),
  ) as Partial<T>;
}

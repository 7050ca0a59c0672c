// Trial of a rule over the last seven days: it decides stored events like the notifier, and sends and keeps nothing.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import type { ZoneSwitch } from '../../../src/core/geo/geozone.ts';
import { activationCodes } from '../../core/events/activation.ts';
import { aheadMostMs } from '../../core/events/projection.ts';
import { alarmCodes } from '../../core/notifications/alarm-kinds.ts';
import {
  type Channel,
  decideFirings,
  type Episode,
  isAbout,
  type Rule,
  ruleTimeOf,
} from '../../core/notifications/notification-rules.ts';
import { counterOf, crossingCodes, crossingNotice } from '../../core/notifications/status-episodes.ts';
import { listMost } from '../../store/base/fixed-list.ts';
import { isRoutine } from '../../store/base/routine-codes.ts';
import { codesKeys, type KeyRange } from '../../store/events/event-keys.ts';
import { eventRecords, recordsPerRead } from '../../store/events/event-records.ts';
import type { EventRow } from '../../store/events/events.ts';
import { idsMost, listGeozonesOf } from '../../store/geozones/geozones.ts';
import { groupsOf } from '../../store/notifications/rules.ts';
import { lastEventNo } from '../../store/slices/slices.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { definitionOf, ruleBody } from './rule-shapes.ts';

const daysMs = 7 * 86_400_000;
/** Events that are looked at, the oldest ones. */
const eventsMost = 5000;
/** Firings in the answer, the newest ones. */
const shownMost = 50;

const count = (description: string) => Type.Integer({ minimum: 0, description });
const epoch = (description: string) => Type.Integer({ description: `${description} (epoch seconds)` });

const firing = Type.Object({
  deviceID: Type.String({ description: 'The device' }),
  statusCode: Type.Integer({ description: 'What happened' }),
  timestamp: epoch('When it happened'),
  channels: Type.Array(Type.Enum(['webhook', 'email', 'push']), {
    description: 'The ways that were open when it arrived',
  }),
});

/** Codes of the events that the rule decides on, and of those that end their episodes. */
function codesOf({ statusCodes }: Rule): readonly number[] {
  const named =
    statusCodes === 'alerts'
      ? [...activationCodes, ...crossingCodes]
      : statusCodes === 'alarms'
        ? alarmCodes
        : statusCodes;
  const codes = named.flatMap((code) => [code, counterOf(code) ?? code]);
  return [...new Set(codes)].filter((code) => !isRoutine(code));
}

interface Seen {
  readonly events: readonly EventRow[];
  readonly isComplete: boolean;
}

/** The events with these codes, in the order of their arrival. */
async function eventsOf({ archive }: ApiServices, range: KeyRange, codes: readonly number[]): Promise<Seen> {
  const eventNos: number[] = [];
  for await (const keys of codesKeys(archive, range, codes)) {
    eventNos.push(...keys.map(({ eventNo }) => eventNo));
    if (eventNos.length > eventsMost) break;
  }
  const looked = eventNos.slice(0, eventsMost).sort((one, other) => one - other);
  const events: EventRow[] = [];
  for (let at = 0; at < looked.length; at += recordsPerRead)
    events.push(...(await eventRecords(archive, range.scope, looked.slice(at, at + recordsPerRead))));
  return { events, isComplete: eventNos.length <= eventsMost };
}

/** Groups of the devices of the events, if the rule names some. */
async function groupsBy({ archive }: ApiServices, rule: Rule, events: readonly EventRow[]) {
  const found = new Map<number, readonly string[]>();
  if (rule.groups.length === 0) return found;
  const deviceNos = [...new Set(events.map(({ deviceNo }) => deviceNo))];
  for (let at = 0; at < deviceNos.length; at += listMost)
    for (const [deviceNo, groups] of await groupsOf(archive, deviceNos.slice(at, at + listMost)))
      found.set(deviceNo, groups);
  return found;
}

/** The switches of the zones that were crossed. */
async function zonesBy({ archive }: ApiServices, accountID: string, events: readonly EventRow[]) {
  const crossed = events.filter(({ statusCode }) => crossingCodes.has(statusCode));
  const ids = [...new Set(crossed.map(({ geozoneID }) => geozoneID))];
  const found = new Map<string, readonly ZoneSwitch[]>();
  for (let at = 0; at < ids.length; at += idsMost)
    for (const { geozoneID, switches } of await listGeozonesOf(
      archive,
      accountID,
      ids.slice(at, at + idsMost),
    ))
      found.set(geozoneID, switches);
  return found;
}

interface Known {
  readonly groupsOfDevice: Awaited<ReturnType<typeof groupsBy>>;
  readonly zones: Awaited<ReturnType<typeof zonesBy>>;
}

/** The rule's decisions on the events, each at its arrival. */
function decide(rule: Rule, events: readonly EventRow[], { groupsOfDevice, zones }: Known) {
  const episodes = new Map<string, Episode>();
  const fired: (Static<typeof firing> & { channels: Channel[] })[] = [];
  let alarms = 0;
  for (const event of events) {
    const { deviceNo, deviceID, statusCode, receivedMs: nowMs, attributes } = event;
    const groups = groupsOfDevice.get(deviceNo) ?? [];
    const { atMs, isLate } = ruleTimeOf(event);
    const crossing = crossingNotice({ statusCode, attributes }, zones.get(event.geozoneID) ?? null);
    const happening = { ...event, atMs, isLate, crossing };
    if (rule.alarm !== null && isAbout(rule, happening, groups)) alarms += 1;
    for (const { channels } of decideFirings([rule], happening, { groups, episodes, nowMs }))
      fired.push({ deviceID, statusCode, timestamp: epochSeconds(atMs), channels: [...channels] });
  }
  return { fired, alarms };
}

async function judge(services: ApiServices, { scope }: Caller, body: Static<typeof ruleBody>) {
  const { displayName: _name, ...definition } = definitionOf(body);
  // A rule that is switched off is judged as if it were on.
  const rule: Rule = { ...definition, isActive: true, ruleNo: 0, ruleID: body.ruleID };
  const nowMs = Math.round(services.clock.utcMs());
  const fromMs = nowMs - daysMs;
  const range: KeyRange = {
    scope,
    fromMs,
    toMs: nowMs + aheadMostMs,
    plausibleMs: nowMs + aheadMostMs,
    after: null,
    sinceNo: 0,
    upToNo: await lastEventNo(services.archive),
  };
  const { events, isComplete } = await eventsOf(services, range, codesOf(rule));
  const groupsOfDevice = await groupsBy(services, rule, events);
  const zones = await zonesBy(services, scope.accountID, events);
  const { fired, alarms } = decide(rule, events, { groupsOfDevice, zones });
  return {
    from: epochSeconds(fromMs),
    to: epochSeconds(nowMs),
    events: events.length,
    isComplete,
    notifications: fired.length,
    alarms,
    firings: fired.slice(-shownMost).toReversed(),
    isEscalation: rule.escalatesAfterS !== null,
    hasKinds: rule.kinds.length > 0,
  };
}

const tryRule = operation({
  id: 'tryRule',
  method: 'POST',
  path: '/notification/tryrule/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Notifications',
  summary: 'What a rule would have notified of last week',
  description: `Our addition. Decides on the stored events of the last seven days as the service decides with \`updateRule\`'s rule, whether or not it is
saved or switched on: devices, groups, silence, episodes, quiet hours and late events, each event at the time of its arrival. It sends and keeps
nothing. At most ${eventsMost.toLocaleString('en')} events are looked at, the oldest ones; \`isComplete\` is false when there were more. \`firings\` are
the newest ${shownMost}. What is no stored event is not judged: occurrences (\`hasKinds\`) and escalation (\`isEscalation\`: then no event notifies).`,
  params: Type.Object({}),
  body: ruleBody,
  result: Type.Object({
    from: epoch('Begin of the seven days'),
    to: epoch('Their end'),
    events: count('Events with a code of the rule, or one that ends its episodes'),
    isComplete: Type.Boolean({ description: 'False: there were more events than are looked at' }),
    notifications: count('Events that the rule would have notified of'),
    alarms: count('Events that would have raised or repeated its alarm'),
    firings: Type.Array(firing, { maxItems: shownMost, description: 'Newest first' }),
    isEscalation: Type.Boolean({ description: 'True: the rule escalates alarms, which is not judged' }),
    hasKinds: Type.Boolean({ description: 'True: the rule notifies of occurrences, which are not judged' }),
    ...envelope,
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: {
    body: { ruleID: 'night-watch', statusCodes: [63553], push: {} },
    result: {
      from: 1763078400,
      to: 1763683200,
      events: 3,
      isComplete: true,
      notifications: 1,
      alarms: 0,
      firings: [{ deviceID: 'truck-17', statusCode: 63553, timestamp: 1763680000, channels: ['push'] }],
      isEscalation: false,
      hasKinds: false,
    },
  },
  run: async ({ body, caller }, services) => ({ ...(await judge(services, caller, body)), ...ok }),
});

export const ruleTrialOperations = [tryRule] as const;

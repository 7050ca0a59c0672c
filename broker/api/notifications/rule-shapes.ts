// The shape of a notification rule in requests and answers, and the checks beyond its schema.
import { type Static, type TObject, Type } from 'typebox';
import type { ErrorDetail } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import { isTimeZone } from '../../../src/core/zoned-time.ts';
import { alarmPriorities } from '../../core/notifications/alarm-kinds.ts';
import {
  faultOfWebhook,
  mailboxSource,
  type TargetRules,
} from '../../core/notifications/delivery-targets.ts';
import { occurrenceKinds } from '../../core/notifications/occurrence-kinds.ts';
import type { RuleDefinition, RuleRow } from '../../store/notifications/rules.ts';
import { languageName, lineText } from '../base/input-members.ts';

const strict = { additionalProperties: false } as const;
const id = (description: string) => Type.String({ pattern: idPatternSource, description });
const ids = (description: string) =>
  Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, uniqueItems: true, description });

/** One of two types without a union: what is wrong is then said once, and where. */
const statusCodes = Type.Unsafe<'alerts' | 'alarms' | number[]>({
  type: ['string', 'array'],
  pattern: '^(alerts|alarms)$',
  items: { type: 'integer', minimum: 0, maximum: 65_535 },
  maxItems: 100,
  uniqueItems: true,
  description: '`alerts`, `alarms`, or up to 100 status codes; empty: the rule notifies of no events',
});
const kinds = Type.Array(Type.Enum([...occurrenceKinds]), {
  maxItems: occurrenceKinds.length,
  uniqueItems: true,
  description: 'Occurrences in the service that the rule notifies of; empty: of none',
});

/** An object that may also be null, which says the same as its absence. */
const orNull = <const T extends TObject>(description: string, schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: ['object', 'null'], description });

const time = Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description: '`HH:MM`' });
const quietHours = orNull(
  'When people are left in peace',
  Type.Object(
    {
      timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA time zone' }),
      from: time,
      to: time,
      weekdays: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
          minItems: 1,
          maxItems: 7,
          uniqueItems: true,
          description: 'Days on which they begin, 1 Monday to 7 Sunday; all without it',
        }),
      ),
      exceptUrgent: Type.Optional(Type.Boolean({ description: 'Let urgent events pass; true without it' })),
    },
    strict,
  ),
);
const webhook = orNull(
  'Machine that is notified',
  Type.Object({ url: Type.String({ maxLength: 2048, description: 'https URL' }) }, strict),
);
const email = orNull(
  'Mailboxes that are notified',
  Type.Object(
    {
      addresses: Type.Array(Type.String({ maxLength: 254, pattern: `^device$|${mailboxSource}` }), {
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description: 'Mailboxes; `device` stands for the `deviceNotifyEmail` of the device',
      }),
    },
    strict,
  ),
);
const push = orNull(
  'Users whose push registrations are notified',
  Type.Object(
    {
      userIDs: Type.Optional(
        Type.Array(Type.String({ maxLength: 64 }), {
          minItems: 1,
          maxItems: 100,
          uniqueItems: true,
          description: 'Users; all of the account without it',
        }),
      ),
    },
    strict,
  ),
);

const alarm = orNull(
  'The alarm that its events raise',
  Type.Object({ priority: Type.Enum([...alarmPriorities], { description: 'How urgent it is' }) }, strict),
);
/** A whole number that may also be null. */
const escalatesAfterS = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  minimum: 10,
  maximum: 86_400,
  description:
    'The rule notifies of alarms that had no owner for so many seconds, in place of events; null or absent: of events',
});

const language = languageName('Of its mails; `en` without it');
const displayName = 'Name for people; the id without it';
const active = 'False: the rule notifies of nothing; true without it';
const offlineAfter =
  'Of `device_offline` and `device_online`: seconds that a device must be offline; 900 without it';
const silence = 'Seconds in which the same is notified of once; 300 without it, 0 = every event';

/** What is sent. */
export const ruleBody = Type.Object(
  {
    ruleID: id('1 to 64 of `A-Z a-z 0-9 _ -`'),
    ruleDisplayName: Type.Optional(lineText(128, displayName)),
    isActive: Type.Optional(Type.Boolean({ description: active })),
    statusCodes: Type.Optional(statusCodes),
    kinds: Type.Optional(kinds),
    offlineAfterS: Type.Optional(
      Type.Integer({ minimum: 60, maximum: 2_592_000, description: offlineAfter }),
    ),
    devices: Type.Optional(ids('Ids of devices')),
    groups: Type.Optional(ids('Ids of groups')),
    silenceS: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400, description: silence })),
    quietHours: Type.Optional(quietHours),
    webhook: Type.Optional(webhook),
    email: Type.Optional(email),
    language: Type.Optional(language),
    push: Type.Optional(push),
    alarm: Type.Optional(alarm),
    escalatesAfterS: Type.Optional(escalatesAfterS),
    rotateSecret: Type.Optional(Type.Boolean({ description: 'True: make a new secret for the webhook' })),
  },
  strict,
);

/** What is shown. */
export const rule = Type.Object({
  ruleID: id('The rule'),
  ruleDisplayName: Type.String({ description: displayName }),
  isActive: Type.Boolean({ description: active }),
  statusCodes,
  kinds,
  offlineAfterS: Type.Integer({ description: offlineAfter }),
  devices: ids('Ids of devices'),
  groups: ids('Ids of groups'),
  silenceS: Type.Integer({ description: silence }),
  quietHours,
  webhook,
  email,
  language,
  push,
  alarm,
  escalatesAfterS,
  changed: Type.Integer({ description: 'Last change (epoch seconds)' }),
});
type RuleView = Static<typeof rule>;

export const exampleRule: RuleView = {
  ruleID: 'night-watch',
  ruleDisplayName: 'night-watch',
  isActive: true,
  statusCodes: [63553, 63621],
  kinds: ['device_offline', 'device_online'],
  offlineAfterS: 900,
  devices: ['truck-17'],
  groups: [],
  silenceS: 600,
  quietHours: null,
  webhook: { url: 'https://hooks.example.com/fleet' },
  email: null,
  language: 'en',
  push: { userIDs: ['dispatch'] },
  alarm: null,
  escalatesAfterS: null,
  changed: 1763683200,
};

/** Content of the rule, with defaults for members that were not sent. */
export function definitionOf(body: Static<typeof ruleBody>): RuleDefinition {
  const hours = body.quietHours ?? null;
  const everyDay = [1, 2, 3, 4, 5, 6, 7];
  return {
    displayName: body.ruleDisplayName ?? body.ruleID,
    isActive: body.isActive ?? true,
    statusCodes: body.statusCodes ?? [],
    kinds: body.kinds ?? [],
    offlineAfterS: body.offlineAfterS ?? 900,
    devices: body.devices ?? [],
    groups: body.groups ?? [],
    silenceS: body.silenceS ?? 300,
    quietHours:
      hours === null
        ? null
        : { ...hours, weekdays: hours.weekdays ?? everyDay, exceptUrgent: hours.exceptUrgent ?? true },
    webhook: body.webhook ?? null,
    email: body.email ?? null,
    language: body.language ?? 'en',
    push: body.push == null ? null : { userIDs: body.push.userIDs ?? 'all' },
    alarm: body.alarm ?? null,
    escalatesAfterS: body.escalatesAfterS ?? null,
  };
}

/** The first thing that is wrong and that the schema does not say; null when there is none. */
export function faultOfRule(
  body: Static<typeof ruleBody>,
  { targets, hasEmail }: { readonly targets: TargetRules; readonly hasEmail: boolean },
): ErrorDetail | null {
  const hasKinds = (body.kinds ?? []).length > 0;
  if ((body.statusCodes ?? []).length === 0 && !hasKinds) {
    return {
      pointer: '/statusCodes',
      message: 'or /kinds must name something: the rule would notify of nothing',
    };
  }
  if (hasKinds && (body.alarm != null || body.escalatesAfterS != null)) {
    return {
      pointer: '/kinds',
      message: 'cannot stand beside /alarm or /escalatesAfterS, which are about events only: make two rules',
    };
  }
  const hasChannel = body.webhook != null || body.email != null || body.push != null;
  if (!hasChannel && body.alarm == null) {
    return {
      pointer: '/webhook',
      message: 'or /email, /push or /alarm must be there: the rule would do nothing',
    };
  }
  if (!hasChannel && body.escalatesAfterS != null) {
    return {
      pointer: '/webhook',
      message: 'or /email or /push must be there: the escalation would notify no one',
    };
  }
  if (body.quietHours != null && !isTimeZone(body.quietHours.timeZone)) {
    return { pointer: '/quietHours/timeZone', message: 'is no IANA time zone' };
  }
  if (body.email != null && !hasEmail) {
    return {
      pointer: '/email',
      message: 'cannot be used: the service has no mail server (notify.smtp.host)',
    };
  }
  const message = body.webhook == null ? null : faultOfWebhook(body.webhook.url, targets);
  return message === null ? null : { pointer: '/webhook/url', message };
}

export const viewRule = (row: RuleRow): RuleView => ({
  ruleID: row.ruleID,
  ruleDisplayName: row.displayName,
  isActive: row.isActive,
  statusCodes: typeof row.statusCodes === 'string' ? row.statusCodes : [...row.statusCodes],
  kinds: [...row.kinds],
  offlineAfterS: row.offlineAfterS,
  devices: [...row.devices],
  groups: [...row.groups],
  silenceS: row.silenceS,
  quietHours: row.quietHours === null ? null : { ...row.quietHours, weekdays: [...row.quietHours.weekdays] },
  webhook: row.webhook,
  email: row.email === null ? null : { addresses: [...row.email.addresses] },
  language: row.language,
  push: row.push === null ? null : row.push.userIDs === 'all' ? {} : { userIDs: [...row.push.userIDs] },
  alarm: row.alarm,
  escalatesAfterS: row.escalatesAfterS,
  changed: Math.floor(row.changedMs / 1000),
});

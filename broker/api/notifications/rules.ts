// Notification rules of the account: which events notify whom, over which channel. Only administrators see or change them.
// A webhook's secret is generated here, shown once, and never again.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import { unknownDevices, unknownGroups } from '../../store/accounts/groups.ts';
import {
  deleteRule,
  findRule,
  isBelowLimit,
  listRules,
  putRule,
  ruleExists,
  rulesMost,
  unknownUsers,
} from '../../store/notifications/rules.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { needKnown } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { definitionOf, exampleRule, faultOfRule, rule, ruleBody, viewRule } from './rule-shapes.ts';

const getRules = operation({
  id: 'getRules',
  method: 'GET',
  path: '/notification/rules/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Notifications',
  summary: 'Rules of the account',
  description: `Every rule of the account in the order of rule ids, without the secrets of webhooks.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, rules: Type.Array(rule, { description: 'In the order of rule ids' }) }),
  errors: [],
  effects: false,
  examples: { result: { rules: [exampleRule] } },
  async run({ caller }, services) {
    return { ...ok, rules: (await listRules(services.db, [caller.accountID])).map(viewRule) };
  },
});

const verification = `### Webhooks
One POST for each event or occurrence, \`Content-Type: application/json\`, with \`notificationID\`, \`kind\`, \`ruleID\`, \`accountID\`, \`deviceID\`,
\`deviceDisplayName\`, \`statusCode\`, \`statusDescription\`, \`timestamp\`, \`creationTime\`, \`latitude\`, \`longitude\`,
\`isPositionValid\`, \`geozoneID\`, \`commandID\`, \`commandState\`, \`userID\`, \`objectID\`, \`ends\`, \`alarmID\` and \`late\` as in the inbox, and \`escalated\`; members may be added. Any 2xx
within 10 seconds counts as taken; redirects are not followed and the answer's body is not read. Headers:
\`fleetward-id\` (the same at every repeat: drop what you have seen), \`fleetward-timestamp\` (epoch seconds of this attempt) and
\`fleetward-signature\`: \`v1=\` and the HMAC-SHA256, in hexadecimal, of \`<timestamp>.<body>\` with the secret as text. Refuse
timestamps that are more than five minutes old.

**Order.** Webhooks may arrive in another order than the events happened: several are sent at once, one that failed is repeated later, and
a vehicle without a network reports late. \`notificationID\` grows in the order in which the service took the events in; \`timestamp\` says
when each happened. What a receiver shows as the present state of a device is that of the highest \`timestamp\`, of equal ones of the
highest \`notificationID\`.

In Node:
\`\`\`js
import { createHmac, timingSafeEqual } from 'node:crypto';
export function isGenuine(secret, headers, body) { // body: the bytes as they came
  const timestamp = headers['fleetward-timestamp'];
  const mac = createHmac('sha256', secret).update(timestamp + '.').update(body).digest();
  const sent = Buffer.from(headers['fleetward-signature'].slice('v1='.length), 'hex');
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
  return isRecent && sent.length === mac.length && timingSafeEqual(sent, mac);
}
\`\`\`
In a shell:
\`\`\`sh
(printf '%s.' "$TIMESTAMP"; cat body.json) | openssl dgst -sha256 -hmac "$SECRET" -r   # compare with the text after v1=
\`\`\`
The URL must be https at a public address, judged by the address that is connected to, unless the operator of the service
allows private ones (setting \`notify.allowPrivateTargets\`), and its certificate must be valid for its name and signed by an
authority that the service trusts. User and password in a URL are refused.`;

const updateRule = operation({
  id: 'updateRule',
  method: 'POST',
  path: '/notification/updaterule/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Notifications',
  summary: 'Create a rule, or replace it',
  description: `Creates the rule, or replaces the whole of the one with that id: a member that is not sent takes its default. It
needs at least one of \`webhook\`, \`email\`, \`push\` and \`alarm\`. An account has at most ${rulesMost} rules. A device, group or user that
does not exist answers 422. E-mail answers 422 while the service has no mail server.

**Which events**: those with one of \`statusCodes\` (a list, the text \`alerts\` for the codes of the activation summary, or
\`alarms\` for those that raise an alarm by themselves) of
one of \`devices\`, or of a device in one of \`groups\`; with neither, of every device.

**What happens in the service**: \`kinds\` names occurrences of these devices that the rule notifies of, besides events or with
\`statusCodes\` left out:
- \`device_offline\`, \`device_online\`: offline for \`offlineAfterS\` seconds, once for each absence that becomes as long after the rule was
  last changed, and back after such an absence. A device that says no hello is offline since it was last heard, once it is silent for longer
  than is usual for it. None is reported in the first 5 minutes after a start of the service, which devices
  have to connect again.
- \`command_expired\`, \`command_refused\`: a command ended without effect, \`userID\` requested it; one that was replaced, or whose withdrawal was
  requested, does not count.
- \`approval_requested\`, \`approval_granted\`, \`approval_refused\`, \`approval_expired\`: a cut waits for a second user, or that has
  ended; \`userID\` decided, else requested it. \`objectID\` is the approval; of a request \`ends\` is when the waiting ends.
- \`update_failed\`: a firmware job was refused, failed, or expired.
- \`device_enrolled\`: a unit used its code.
- \`clone_suspected\`: two units replace each other's connection; at most once an hour. Not with a message queue in front of the service.
- \`data_unreadable\`: something that the device sent could not be read and is in quarantine; at most once an hour.
- \`certificate_expiring\`: the newest certificate of a device ends within 30 days (\`ends\`); once for each certificate.

They are decided within a few seconds and never twice. \`silenceS\` counts each command, approval, code and certificate apart, and
\`device_online\` ends \`device_offline\`; quiet hours hold back e-mail and push, and none of them is urgent. They raise no alarms: \`kinds\` cannot
stand beside \`alarm\` and \`escalatesAfterS\`.

**Once an episode**: a rule notifies of an event only if it has not notified of the same code of the same device (and of the same zone or
command) within \`silenceS\` seconds of event time, unless the event that ends it (Panic_Off for Panic, Tamper_Off, Depart for
Arrive, and so on) lies between. That goes by event time, as far as the events have arrived. What one of the
rule's channels has sent counts as sent; to decide for machines and people apart, make two rules. Every alert is in the
inbox all the same.

**Quiet hours** hold back e-mail and push, not webhooks. What is held back is not sent later; it is in the inbox. A day
is the one on which they begin; \`from\` equal to \`to\` is the whole day. Panic (63553), Tamper (63621) and loss of power
(64787, 64791) pass unless \`exceptUrgent\` is false.

**Late events**, which arrive more than 15 minutes after they happened, are sent by webhook and e-mail with \`late\` true; by push
only if they are of the urgent codes above. A vehicle's clock that runs more than a day ahead is not believed: then the time of
arrival counts.

**Push** goes to the registrations of the users named, or of all, who are active and may see the device.

**Alarms**: with \`alarm\` each of these events raises an alarm of that priority, or makes the one that it raises by itself as
urgent; that needs no channel and knows no quiet hours. With \`escalatesAfterS\` the rule notifies of no event, but of each alarm
with one of its codes (\`alarms\`: every alarm) that had no owner for so many seconds: once for each time that the
alarm is new, whatever \`silenceS\` says; \`escalated\` is true in what is sent, and \`alarmID\` names the alarm. Several rules with
growing times make steps.

${verification}

\`webhookSecret\` is in the answer only when it is new: for a rule that had no webhook, and with \`rotateSecret\`. It cannot be
read again.`,
  params: Type.Object({}),
  body: ruleBody,
  result: Type.Object({
    ...rule.properties,
    webhookSecret: Type.Optional(Type.String({ description: 'Shown once: signs the webhook' })),
    ...envelope,
  }),
  errors: ['conflict'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: {
      ruleID: 'night-watch',
      statusCodes: [63553, 63621],
      kinds: ['device_offline', 'device_online'],
      devices: ['truck-17'],
      silenceS: 600,
      webhook: { url: 'https://hooks.example.com/fleet' },
      push: { userIDs: ['dispatch'] },
    },
    result: { ...exampleRule, webhookSecret: 'u1Hq0Yb2Vd3mX7s9a8Zk4tR6wE5yJcLpQfGnTiOoBxM' },
  },
  async run({ body, caller, source }, services) {
    const { db, clock, entropy, senders } = services;
    const { accountID } = caller;
    const fault = faultOfRule(body, { targets: senders.targets, hasEmail: senders.email !== null });
    if (fault !== null) {
      throw new AppError('invalid_content', `${fault.pointer} ${fault.message}`, { details: [fault] });
    }
    const key = { accountID, ruleID: body.ruleID };
    const definition = definitionOf(body);
    const users =
      definition.push === null || definition.push.userIDs === 'all' ? [] : definition.push.userIDs;
    const { devices, groups } = definition;
    needKnown(devices, {
      unknown: await unknownDevices(db, accountID, devices),
      member: 'devices',
      what: 'device',
    });
    needKnown(groups, {
      unknown: await unknownGroups(db, accountID, groups),
      member: 'groups',
      what: 'group',
    });
    needKnown(users, {
      unknown: await unknownUsers(db, accountID, users),
      member: 'push/userIDs',
      what: 'user',
    });
    const known = await findRule(db, key);
    const isNew = definition.webhook !== null && (known?.webhook == null || body.rotateSecret === true);
    const secret = isNew ? Buffer.from(entropy.bytes(32)).toString('base64url') : null;
    const audited = { action: 'rule.update', object: body.ruleID, onlyIf: isBelowLimit(key) };
    const [, changed] = await db.write([
      auditEntry(services, { caller, source }, audited),
      putRule({ ...key, definition, secret, nowMs: Math.round(clock.utcMs()) }),
    ]);
    if (changed?.changes !== 1) {
      throw new AppError('conflict', `The account has ${rulesMost} rules already`, {
        hint: 'Delete one first, or let one rule name more devices and codes.',
      });
    }
    const row = await findRule(db, key);
    if (row === null) throw new AppError('not_found', `There is no rule ${JSON.stringify(body.ruleID)}`);
    return { ...viewRule(row), ...(secret === null ? {} : { webhookSecret: secret }), ...ok };
  },
});

const removeRule = operation({
  id: 'deleteRule',
  method: 'POST',
  path: '/notification/deleterule/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Notifications',
  summary: 'Delete a rule',
  description: `Deletes the rule. What it has not delivered yet is given up; notifications that it made stay in the inbox.`,
  params: Type.Object({}),
  body: Type.Object(
    { ruleID: Type.String({ pattern: idPatternSource, description: 'The rule' }) },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { body: { ruleID: 'night-watch' } },
  async run({ body, caller, source }, services) {
    const key = { accountID: caller.accountID, ruleID: body.ruleID };
    const audited = { action: 'rule.delete', object: body.ruleID, onlyIf: ruleExists(key) };
    const results = await services.db.write([
      auditEntry(services, { caller, source }, audited),
      ...deleteRule(key, Math.round(services.clock.utcMs())),
    ]);
    if (results.at(-1)?.changes !== 1) {
      throw new AppError('not_found', `There is no rule ${JSON.stringify(body.ruleID)}`);
    }
    return ok;
  },
});

export const ruleOperations = [getRules, updateRule, removeRule] as const;

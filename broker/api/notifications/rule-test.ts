// A test of a rule's webhook: one marked message with the sender, address rules and signature of real deliveries, and its outcome
// in the answer. It is no notification: it is in no inbox, not repeated, and changes no rule.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { hexId, idPatternSource } from '../../../src/core/ids.ts';
import { faultCodes, viewFault } from '../../core/notifications/delivery-fault.ts';
import { faultOfWebhook, hostOf } from '../../core/notifications/delivery-targets.ts';
import { webhookTestBody } from '../../core/notifications/notice.ts';
import { findRule, type RuleKey, ruleExists, webhookSecretOf } from '../../store/notifications/rules.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';

/** 10 at once, then one in 6 seconds. */
const testLimit = { burst: 10, perS: 1 / 6, refusal: 'The account tests its webhooks too often' } as const;

/** The webhook of a rule. @throws AppError `not_found`, `conflict`. */
async function needWebhook(services: ApiServices, key: RuleKey) {
  const { db, senders } = services;
  const rule = await findRule(db, key);
  const secret = await webhookSecretOf(db, key);
  if (rule === null || secret === null) {
    throw new AppError('not_found', `There is no rule ${JSON.stringify(key.ruleID)}`);
  }
  if (rule.webhook === null) {
    throw new AppError('conflict', `The rule ${key.ruleID} has no webhook`, {
      hint: 'Give it one with updateRule.',
    });
  }
  const { url } = rule.webhook;
  // The operator may have forbidden since what was allowed when the rule was made.
  const fault = faultOfWebhook(url, senders.targets);
  if (fault !== null) throw new AppError('conflict', `The webhook of the rule ${key.ruleID} ${fault}`);
  return { url, secret };
}

const testRule = operation({
  id: 'testRule',
  method: 'POST',
  path: '/notification/testrule/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Notifications',
  summary: 'Send a test to the webhook of a rule',
  description: `Our addition. Posts one message to the webhook of the rule, at once and once, signed with its secret as every delivery, and waits for the
outcome (10 seconds at most). The body has the members of a delivery with \`deviceID\` empty and \`statusCode\` 0, \`statusDescription\` \`Test\`,
and \`test\` true: **a receiver must act on nothing in a message with \`test\`.** \`fleetward-id\` begins with \`test-\`.

The test is no notification: it is in no inbox and not in \`getDeliveries\`, is not repeated, and is sent for a rule that is switched off
too. A receiver that fails is no error of this call: \`isDelivered\` is false and \`reason\` says why. An account may test 10 times, then once in 6 seconds
(503 \`throttled\`). Each test is in the audit log.`,
  params: Type.Object({}),
  body: Type.Object(
    { ruleID: Type.String({ pattern: idPatternSource, description: 'The rule' }) },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ruleID: Type.String({ description: 'The rule' }),
    target: Type.String({ description: 'Host of the webhook' }),
    messageID: Type.String({ description: 'The header `fleetward-id` of the message' }),
    isDelivered: Type.Boolean({ description: 'True: the receiver answered 2xx' }),
    reason: Type.String({ description: 'Why it was not delivered, a sentence; empty when it was' }),
    reasonCode: Type.Enum(['', ...faultCodes], { description: 'The same as a code; empty when it was' }),
    reasonDetail: Type.String({
      description: 'Status, seconds or code of a connection that belongs to the code; empty without one',
    }),
    duration: Type.Integer({ minimum: 0, description: 'Time until the outcome (ms)' }),
    ...envelope,
  }),
  errors: ['not_found', 'conflict', 'throttled'],
  effects: true,
  examples: {
    body: { ruleID: 'night-watch' },
    result: {
      ruleID: 'night-watch',
      target: 'hooks.example.com',
      messageID: 'test-5b1f0c9a2d7e4836',
      isDelivered: false,
      reason: 'answered 503',
      reasonCode: 'answered',
      reasonDetail: '503',
      duration: 184,
    },
  },
  async run({ body, caller, source }, services) {
    const { clock, entropy, senders, takeTurn, db } = services;
    const { accountID } = caller;
    const { ruleID } = body;
    const { url, secret } = await needWebhook(services, { accountID, ruleID });
    takeTurn(testLimit, accountID);
    const startMs = clock.monoMs();
    const messageID = `test-${hexId(entropy.bytes(8))}`;
    const target = hostOf(url);
    const atMs = Math.round(clock.utcMs());
    const onlyIf = ruleExists({ accountID, ruleID });
    const audited = { action: 'rule.test', object: ruleID, detail: { target, messageID }, onlyIf };
    await db.write([auditEntry(services, { caller, source }, audited)]);
    const message = webhookTestBody({ accountID, ruleID, atMs });
    const timestampS = Math.floor(atMs / 1000);
    const outcome = await senders.webhook({ url, secret, id: messageID, timestampS, body: message });
    const failed = viewFault(outcome.kind === 'sent' ? '' : outcome.fault);
    return {
      ruleID,
      target,
      messageID,
      isDelivered: outcome.kind === 'sent',
      reason: failed.sentence,
      reasonCode: failed.code,
      reasonDetail: failed.detail,
      duration: Math.round(clock.monoMs() - startMs),
      ...ok,
    };
  },
});

export const ruleTestOperations = [testRule] as const;

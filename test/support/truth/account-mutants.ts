// Faults of what people do with an account: settings, geozones, messages, webhooks, groups, secrets, approvals, service codes, reports, and the
// audit log.
import { agent, broker, type TruthMutant } from './truth-mutant.ts';

const rollout = 'broker/rollout/config-rollout.js';
const vehicleZones = 'agent/core/zones/zones-module.js';
const messages = 'broker/features/messages/message-statements.js';
const vehicleMessages = 'agent/core/messages/messages-module.js';
const webhook = 'broker/adapters/delivery/webhook.js';
const serviceCode = 'agent/core/protection/service-code.js';
const secondPerson = 'broker/store/accounts/second-person.js';
const approvals = 'broker/store/commands/approvals.js';
const reports = 'broker/api/events/reports.js';

const settingsMutants: readonly TruthMutant[] = [
  broker({
    fault: 'configurations are never sent',
    file: rollout,
    find: "if (!(await publish(device, { verb: 'config', payload, qos: 1 })))",
    put: 'if (payload.length === 0)',
    found: ['settingsWrong', 'zonesWrong'],
  }),
  broker({
    fault: 'a configuration is shown as held whatever the vehicle holds',
    file: 'broker/api/devices/vehicle-settings.js',
    find: 'heldVersion: config.heldVersion,',
    put: 'heldVersion: config.heldVersion + 1,',
    found: ['settingsWrong'],
  }),
  broker({
    fault: 'settings of one vehicle are left out of its configuration',
    file: rollout,
    find: 'mergeChanges(account.settings, own.settings)',
    put: 'mergeChanges(account.settings, {})',
    found: ['settingsWrong'],
  }),
  agent({
    fault: 'a unit confirms settings and goes on by the old ones',
    file: 'agent/core/kernel/vehicle-config.js',
    find: 'put(context, { settings, heartbeatMs });',
    put: 'put(context, { heartbeatMs });',
    found: ['settingsWrong'],
  }),
];

const zoneMutants: readonly TruthMutant[] = [
  agent({
    fault: 'departures from geozones are not reported',
    file: vehicleZones,
    find: 'const events = reports.map(',
    put: "const events = reports.filter(({ crossing }) => crossing.mark.to === 'inside').map(",
    found: ['zonesWrong'],
  }),
  agent({
    fault: 'arrivals and departures are mixed up',
    file: 'src/core/zones/crossing.js',
    find: 'codes[mark.to]',
    put: "codes[mark.to === 'inside' ? 'outside' : 'inside']",
    found: ['zonesWrong'],
  }),
  agent({
    fault: 'a unit takes no geozones',
    file: vehicleZones,
    find: 'withSet(context.state.zones, set)',
    put: 'context.state.zones',
    found: ['zonesWrong'],
  }),
  broker({
    fault: 'units are sent no geozones',
    file: 'broker/store/geozones/geozones.js',
    find: '.filter(({ geozoneID, zone }) => isId(geozoneID)',
    put: '.filter(({ geozoneID, zone }) => geozoneID === null',
    found: ['zonesWrong'],
  }),
  broker({
    fault: 'geozones are three times as wide on units',
    file: 'broker/store/geozones/geozones.js',
    find: 'id: geozoneID, zone, switches',
    put: 'id: geozoneID, zone: { ...zone, radiusM: zone.radiusM * 3 }, switches',
    found: ['zonesWrong'],
  }),
  broker({
    fault: 'the geozone of a record is not stored',
    file: 'broker/store/events/event-insert.js',
    find: "({ event }) => event.geozoneID ?? ''",
    put: "() => ''",
    found: ['zonesWrong'],
  }),
  broker({
    fault: 'no geozone is said to hold a vehicle',
    file: 'broker/api/geozones/geozone-queries.js',
    find: 'device.fixMs === 0 ? {} : viewZonesAt(services, caller, device)',
    put: '{}',
    found: ['zonesWrong'],
  }),
];

const messageMutants: readonly TruthMutant[] = [
  broker({
    fault: 'messages to drivers are not sent',
    file: 'broker/commands/command-sender.js',
    find: 'signed(messageBody(row, boot), signedTypes.message)',
    put: 'new Uint8Array(0)',
    found: ['messagesWrong'],
  }),
  agent({
    fault: 'a message is confirmed and not kept',
    file: vehicleMessages,
    find: 'put(context, { messages: kept.messages });',
    put: '',
    found: ['messagesWrong'],
  }),
  agent({
    fault: 'a message is kept and not confirmed',
    file: vehicleMessages,
    find: 'commitDrafts(context, [kept.confirmed]);',
    put: 'commitDrafts(context, []);',
    found: ['messagesWrong'],
  }),
  broker({
    fault: 'messages of drivers have no text',
    file: messages,
    find: "?.['message']",
    put: "?.['note']",
    found: ['messagesWrong'],
  }),
  broker({
    fault: 'messages that were read stay unread',
    file: messages,
    find: 'Math.min(upTo, lastNo)',
    put: '0',
    found: ['messagesWrong'],
  }),
];

const webhookMutants: readonly TruthMutant[] = [
  broker({
    fault: 'webhooks are signed with another secret',
    file: webhook,
    find: 'v1=${signWebhook(secret, timestampS, body)}',
    put: "v1=${signWebhook('', timestampS, body)}",
    found: ['deliveriesWrong'],
  }),
  broker({
    fault: 'a delivery that failed counts as sent',
    file: webhook,
    find: 'posted.status < 300',
    put: 'posted.status < 600',
    found: ['deliveriesWrong'],
  }),
  broker({
    fault: 'each attempt of a delivery has an id of its own',
    file: webhook,
    find: "'fleetward-id': id,",
    put: "'fleetward-id': `${id}-${timestampS}`,",
    found: ['deliveriesWrong'],
  }),
  broker({
    fault: 'a webhook gets panics alone',
    file: webhook,
    find: 'body }) => sendingOf(',
    put: "body }) => !body.includes('63553') ? { kind: 'sent' } : sendingOf(",
    found: ['deliveriesWrong'],
  }),
];

const accessMutants: readonly TruthMutant[] = [
  broker({
    fault: 'groups limit nobody',
    file: 'broker/store/accounts/sessions.js',
    find: 'seesAll: flagOf,',
    put: 'seesAll: () => true,',
    found: ['accessWrong'],
  }),
  // Two parts see to it, each alone: the operation, and a comparison of all connections every two seconds.
  broker({
    fault: 'a device stays connected whatever became of it',
    file: 'broker/adapters/mqtt/aedes.js',
    find: 'find(device)?.socket.destroy();',
    put: '',
    found: ['accessWrong'],
  }),
  broker({
    fault: 'a new secret leaves the old one valid',
    file: 'broker/devices/device-login.js',
    find: 'isSecret(secret, credential?.secretHash ?? null)',
    put: 'credential !== null',
    found: ['accessWrong'],
  }),
];

const approvalMutants: readonly TruthMutant[] = [
  // That a cut goes with one user takes two faults: the operation asks for the second, and the statement that records it does.
  broker({
    fault: 'the user who asks for a cut may approve it',
    file: approvals,
    find: 'AND p.requested_by <> ${decider.userID}\n    AND EXISTS (SELECT 1 FROM users ru',
    put: '\n    AND EXISTS (SELECT 1 FROM users ru',
    found: ['approvalsWrong'],
  }),
  broker({
    fault: 'a user who was created a moment ago counts as the second person',
    file: secondPerson,
    find: "AND ${column('granted_by')} IS NULL AND ${column('granted_s')} <= ${beforeS}",
    put: "AND (${column('granted_by')} IS NULL OR ${column('granted_s')} > ${beforeS})",
    found: ['approvalsWrong'],
  }),
];

const codeMutants: readonly TruthMutant[] = [
  agent({
    fault: 'a service code works twice',
    file: serviceCode,
    find: 'counter: counter + 1, wrong: 0',
    put: 'counter, wrong: 0',
    found: ['serviceCodesWrong'],
  }),
  agent({
    fault: 'any service code works',
    file: serviceCode,
    find: 'codes.codeAt(counter) === code',
    put: 'code.length === 8',
    found: ['serviceCodesWrong'],
  }),
  agent({
    fault: 'wrong service codes are not reported',
    file: serviceCode,
    find: "isRight ? 'SERVICE_CODE_RIGHT' : 'SERVICE_CODE_WRONG'",
    put: "isRight ? 'SERVICE_CODE_RIGHT' : 'DIAGNOSTIC'",
    found: ['serviceCodesWrong'],
  }),
  broker({
    fault: 'service codes are shown that no unit takes',
    file: 'broker/commands/service-codes.js',
    find: '.codeAt(number), number',
    put: '.codeAt(number + 1000), number',
    found: ['serviceCodesWrong'],
  }),
];

const reportMutants: readonly TruthMutant[] = [
  broker({
    fault: 'trips are in miles',
    file: reports,
    find: 'distance: km(trip.distanceM),',
    put: 'distance: km(trip.distanceM / 1.609),',
    found: ['reportsWrong'],
  }),
  broker({
    fault: 'the fastest of a trip is its slowest',
    file: 'broker/core/events/trip-way.js',
    find: 'Math.max(most ?? 0, speed)',
    put: 'Math.min(most ?? speed, speed)',
    found: ['reportsWrong'],
  }),
  broker({
    fault: 'trips that go on are left out',
    file: 'broker/api/events/trip-report.js',
    find: 'yield endTrips(at.state);',
    put: 'yield [];',
    found: ['reportsWrong'],
  }),
];

const auditMutants: readonly TruthMutant[] = [
  broker({
    fault: 'the audit log names the service for what users did',
    file: 'broker/api/base/audit-entry.js',
    find: 'actor: caller.userID,',
    put: "actor: 'service',",
    found: ['auditWrong'],
  }),
  broker({
    fault: 'the audit log leaves commands out',
    file: 'broker/store/accounts/audit.js',
    find: 'WHERE ${onlyIf}`',
    put: "WHERE ${onlyIf} AND ${entry.action} <> 'command.request'`",
    found: ['auditWrong'],
  }),
  broker({
    fault: 'the chain of the audit log is not that of its entries',
    file: 'broker/store/accounts/audit.js',
    find: '${detail}, ${hashDetail(detail)}',
    put: "${detail}, ${hashDetail(detail + ' ')}",
    found: ['auditWrong'],
  }),
];

export const accountMutants: readonly TruthMutant[] = [
  ...settingsMutants,
  ...zoneMutants,
  ...messageMutants,
  ...webhookMutants,
  ...accessMutants,
  ...approvalMutants,
  ...codeMutants,
  ...reportMutants,
  ...auditMutants,
];

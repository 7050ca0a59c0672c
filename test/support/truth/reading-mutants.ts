// Faults of what people read besides the records: exports, the present, the live stream, webhooks, reports, commands and the audit log. The
// records themselves are right; a value, a time or a place is not.
import { broker, type TruthMutant } from './truth-mutant.ts';

const exports = 'broker/features/exports/core/track-text.js';
const reports = 'broker/api/events/reports.js';
const commandView = 'broker/api/commands/command-view.js';
const hourMs = 3_600_000;

const exportMutants: readonly TruthMutant[] = [
  broker({
    fault: 'times in GPX are those of another time zone',
    file: exports,
    find: '<time>${time(point.timestampMs)}</time>',
    put: `<time>\${time(point.timestampMs - ${5 * hourMs})}</time>`,
    found: ['historyWrong'],
  }),
  broker({
    fault: 'latitude and longitude are exchanged in GPX',
    file: exports,
    find: 'lat="${latitude.toFixed(7)}" lon="${lon.toFixed(7)}"',
    put: 'lat="${lon.toFixed(7)}" lon="${latitude.toFixed(7)}"',
    found: ['historyWrong'],
  }),
  broker({
    fault: 'latitude and longitude are exchanged in the points of GeoJSON',
    file: exports,
    find: "{ type: 'Point', coordinates: [at.longitude, at.latitude] }",
    put: "{ type: 'Point', coordinates: [at.latitude, at.longitude] }",
    found: ['historyWrong'],
  }),
  broker({
    fault: 'times in GeoJSON are those of the receipt',
    file: exports,
    find: 'time: time(timestampMs),\n            timestamp: Math.floor(timestampMs / 1000),',
    put: 'time: time(receivedMs), timestamp: Math.floor(receivedMs / 1000) - 60,',
    found: ['historyWrong'],
  }),
  broker({
    fault: 'the written times in CSV are those of another time zone',
    file: exports,
    find: '        time(point.timestampMs),\n',
    put: `        time(point.timestampMs - ${5 * hourMs}),\n`,
    found: ['historyWrong'],
  }),
  broker({
    fault: 'speeds in CSV are in miles an hour',
    file: exports,
    find: '            point.speed,\n',
    put: '            point.speed && point.speed / 1.609,\n',
    found: ['historyWrong'],
  }),
];

const streamMutants: readonly TruthMutant[] = [
  broker({
    fault: 'the live stream shows places with two decimals',
    file: 'broker/live/hub.js',
    find: 'latitude: event.latitude ?? null,',
    put: 'latitude: event.latitude === undefined ? null : Math.round(event.latitude * 100) / 100,',
    found: ['streamWrong'],
  }),
  broker({
    fault: 'a live stream that is resumed begins with what comes then',
    file: 'broker/live/opening.js',
    find: 'yield* replay(options, found);',
    put: 'yield* replay(options, { ...found, after: found.upTo });',
    found: ['streamWrong'],
  }),
  broker({
    fault: 'the live stream shows vehicles with three decimals',
    file: 'broker/core/live/live-message.js',
    find: 'deviceLastValidLatitude: position.latitude,',
    put: 'deviceLastValidLatitude: Math.round(position.latitude * 1000) / 1000,',
    found: ['streamWrong'],
  }),
  broker({
    fault: 'the live stream shows each vehicle once',
    file: 'broker/live/hub.js',
    find: 'if (isRead && !hub.options.isShared)',
    put: 'if (isRead && !hub.options.isShared && !(globalThis.notedDevices ??= new Set()).has(device.deviceNo) && globalThis.notedDevices.add(device.deviceNo))',
    found: ['streamWrong'],
  }),
];

const noticeMutants: readonly TruthMutant[] = [
  broker({
    fault: 'webhooks get everything twice',
    file: 'broker/adapters/delivery/webhook.js',
    find: 'async ({ url, secret, id, timestampS, body }) => sendingOf(await http.post({',
    put: `async (call) => (await sendOnce(http, call), sendOnce(http, call));
}
async function sendOnce(http, { url, secret, id, timestampS, body }) {
    return sendingOf(await http.post({`,
    found: ['deliveriesWrong'],
  }),
  broker({
    fault: 'webhooks get everything 50 s late',
    file: 'broker/adapters/delivery/webhook.js',
    find: 'async ({ url, secret, id, timestampS, body }) => sendingOf(await http.post({',
    put: `(call) => new Promise((resolve) => setTimeout(resolve, 50_000)).then(() => sendOnce(http, call));
}
async function sendOnce(http, { url, secret, id, timestampS, body }) {
    return sendingOf(await http.post({`,
    found: ['deliveriesWrong'],
  }),
  broker({
    fault: 'notifications and webhooks show latitudes of the other hemisphere',
    file: 'broker/core/notifications/notice.js',
    find: 'latitude: entry.latitude ?? 0,',
    put: 'latitude: -(entry.latitude ?? 0),',
    found: ['alertsWrong', 'deliveriesWrong'],
  }),
];

export const readingMutants: readonly TruthMutant[] = [
  ...exportMutants,
  ...streamMutants,
  ...noticeMutants,
  broker({
    fault: 'a device shows half of its heading',
    file: 'broker/api/answers/views.js',
    find: 'deviceLastValidHeading: headingOrNull(row.heading),',
    put: 'deviceLastValidHeading: headingOrNull(row.heading / 2),',
    found: ['presentWrong'],
  }),
  broker({
    fault: 'trips end where they began',
    file: reports,
    find: 'endLatitude: trip.end.latitude,',
    put: 'endLatitude: trip.start.latitude,',
    found: ['reportsWrong'],
  }),
  broker({
    fault: 'commands are listed under the user who withdrew them',
    file: commandView,
    find: 'issuer: command.issuer,',
    put: "issuer: command.cancelBy ?? '',",
    found: ['commandsWrong'],
  }),
  broker({
    fault: 'commands are listed with the hour of another time zone',
    file: commandView,
    find: 'issued: epochSeconds(command.issuedMs),',
    put: `issued: epochSeconds(command.issuedMs + ${hourMs}),`,
    found: ['commandsWrong'],
  }),
  broker({
    fault: 'the audit log shows the hour of another time zone',
    file: 'broker/api/service/audit.js',
    find: 'timestamp: epochSeconds(row.atMs),',
    put: `timestamp: epochSeconds(row.atMs + ${hourMs}),`,
    found: ['auditWrong'],
  }),
];

// Faults that a run of the simulator must find and name: each is one edit of the compiled program, switched on alone. The broker's are put
// into a copy that the run starts as its own broker; the agent's into the copy that drives the vehicles.
import { accountMutants } from './account-mutants.ts';
import { busMutants } from './bus-mutants.ts';
import { operationMutants } from './operation-mutants.ts';
import { readingMutants } from './reading-mutants.ts';
import { restartMutants } from './restart-mutants.ts';
import { agent, broker, type TruthMutant } from './truth-mutant.ts';

const insert = 'broker/store/events/event-insert.js';
const projections = 'broker/store/events/projections.js';
const eventText = 'src/core/events/event-text.js';
const sensing = 'agent/core/kernel/vehicle-sensing.js';
const place = 'agent/core/kernel/event-position.js';
const stamping = 'agent/core/kernel/vehicle-state.js';
const counting = 'agent/core/reporting.js';

const shownOdometer = 'odometer: Math.round(state.reporting.odometerM) / 1000,';
const shownLevel = '{ fuelLevel: Math.round(fuel * 1000) / 1000 }';

/** A column of stored events that holds something else. */
const column = (fault: string, find: string, put: string, found: TruthMutant['found']): TruthMutant =>
  broker({ fault, file: insert, find, put, found });

export const truthMutants: readonly TruthMutant[] = [
  column('positions are stored 55 km off', 'event.latitude }', 'event.latitude && event.latitude + 0.5 }', [
    'corrupted',
  ]),
  column(
    'longitudes are stored with three decimals',
    'event.longitude }',
    'event.longitude && Math.round(event.longitude * 1000) / 1000 }',
    ['corrupted'],
  ),
  column('speeds are stored in m/s', 'event.speed }', 'event.speed && event.speed / 3.6 }', ['corrupted']),
  column('headings are not stored', 'event.heading }', 'undefined }', ['corrupted']),
  column('odometers are not stored', 'event.odometer }', 'undefined }', ['historyWrong']),
  column('odometers are stored in miles', 'event.odometer }', 'event.odometer && event.odometer / 1.609 }', [
    'historyWrong',
  ]),
  column(
    'odometers are stored as that of the record before',
    'of: ({ event }) => event.odometer }',
    `of: ({ event, deviceNo }) => {
        const kept = (globalThis.keptOdometers ??= new Map());
        const before = kept.get(deviceNo) ?? event.odometer;
        kept.set(deviceNo, event.odometer);
        return before;
    } }`,
    ['historyWrong', 'odometerWrong'],
  ),
  column(
    'odometers are stored as they were first',
    'of: ({ event }) => event.odometer }',
    `of: ({ event, deviceNo }) => {
        const kept = (globalThis.keptOdometers ??= new Map());
        if (!kept.has(deviceNo)) kept.set(deviceNo, event.odometer);
        return kept.get(deviceNo);
    } }`,
    ['odometerWrong'],
  ),
  column(
    'fuel levels are stored in percent',
    'event.fuelLevel }',
    'event.fuelLevel && event.fuelLevel * 100 }',
    ['fuelWrong'],
  ),
  column('fuel levels are not stored', 'event.fuelLevel }', 'undefined }', ['historyWrong']),
  column('inputs are not stored', 'flagsText(inputNames, event.inputs)', 'null', ['historyWrong']),
  column('commands of reports are not stored', 'event.commandID }', 'undefined }', ['corrupted']),
  column('states of reports on commands are not stored', 'event.commandState }', 'undefined }', [
    'corrupted',
  ]),
  column('events get the time of their arrival', '=> event.timestamp ?? receivedMs', '=> receivedMs', [
    'corrupted',
  ]),
  column(
    'events get the time of their arrival a minute late',
    'of: (row) => row.receivedMs }',
    'of: (row) => row.receivedMs + 60_000 }',
    ['mistimed'],
  ),
  column(
    'the end of a panic is stored as a panic',
    '({ event }) => event.statusCode }',
    '({ event }) => event.statusCode === 63554 ? 63553 : event.statusCode }',
    ['corrupted'],
  ),
  broker({
    fault: 'one event in 17 is acknowledged and not stored',
    file: 'broker/ingest/event-decisions.js',
    find: 'return { fresh: work.events, again: nothing };',
    put: 'return { fresh: work.events.filter(({ seq }) => seq % 17 !== 0), again: nothing };',
    found: ['acknowledgedMissing'],
  }),
  broker({
    fault: 'acknowledgements come 3 s late',
    file: 'broker/ingest/uplinks.js',
    find: 'this.#acknowledge(outcome.ack);\n        this.#completion?.done();',
    put: 'setTimeout(() => this.#acknowledge(outcome.ack), 3000);\n        setTimeout(() => this.#completion?.done(), 3000);',
    found: ['threshold'],
    threshold: 'ingest.p50<1500ms',
  }),
  broker({
    fault: 'the last position stays where the vehicle was seen first',
    file: projections,
    find: "'fix_tie', 'latitude', 'longitude',",
    put: "'fix_tie',",
    found: ['presentWrong'],
  }),
  broker({
    fault: 'the last speed is not kept',
    file: projections,
    find: "'longitude', 'speed', 'heading',",
    put: "'longitude', 'heading',",
    found: ['presentWrong'],
  }),
  broker({
    fault: 'states of sensors stay as they were first',
    file: projections,
    find: 'DO UPDATE SET state = excluded.state,',
    put: 'DO UPDATE SET state = device_states.state,',
    found: ['presentWrong', 'wrongState'],
  }),
  broker({
    fault: 'the level of the tank stays as it was first',
    file: projections,
    find: "['fuel_ms', 'fuel_tie', 'fuel_level']",
    put: "['fuel_ms', 'fuel_tie']",
    found: ['presentWrong'],
  }),
  broker({
    fault: 'units are heard of once',
    file: projections,
    find: 'THEN r.heard_ms ELSE devices.heartbeat_ms END',
    put: 'THEN devices.heartbeat_ms ELSE devices.heartbeat_ms END',
    found: ['presentWrong'],
  }),
  broker({
    fault: 'a device shows its sensors the other way round',
    file: 'broker/api/answers/views.js',
    find: 'return known.state;',
    put: "return known.state === '1' ? '0' : '1';",
    found: ['presentWrong', 'wrongState'],
  }),
  broker({
    fault: 'the history of a device has every other record',
    file: 'broker/store/events/event-blocks.js',
    find: 'AND d.device_id = ${listed.deviceID}`',
    put: 'AND d.device_id = ${listed.deviceID} AND e.event_no % 2 = 0`',
    found: ['historyWrong'],
  }),
  broker({
    fault: 'metadata is empty',
    file: 'broker/api/events/events-device.js',
    find: 'metadata: listing.pins(),',
    put: 'metadata: [],',
    found: ['historyWrong'],
  }),
  broker({
    fault: 'the latest record is 5 s old',
    file: 'broker/api/events/events-device.js',
    find: 'toMs: fixMs }',
    put: 'toMs: fixMs - 5000 }',
    found: ['historyWrong'],
  }),
  broker({
    fault: 'CSV lacks the first line of each page',
    file: 'broker/features/exports/exports.js',
    find: 'yield events.map(({ event }) => csvLine(',
    put: 'yield events.slice(1).map(({ event }) => csvLine(',
    found: ['historyWrong'],
  }),
  broker({
    fault: 'GPX has alarms only',
    file: 'broker/features/exports/exports.js',
    find: 'text += gpxPoint(event, at, isoTime);',
    put: 'if (event.statusCode !== 61472) text += gpxPoint(event, at, isoTime);',
    found: ['historyWrong'],
  }),
  broker({
    fault: 'GeoJSON has positions only',
    file: 'broker/features/exports/exports.js',
    find: 'features.push(geojsonPoint(deviceID, event, isoTime));',
    put: 'if (event.statusCode === 61472) features.push(geojsonPoint(deviceID, event, isoTime));',
    found: ['historyWrong'],
  }),
  broker({
    fault: 'the history of a device shows the time of the event as that of its receipt',
    file: eventText,
    find: "\n    ['creationTime', seconds('received_ms')]",
    put: "\n    ['creationTime', seconds('timestamp_ms')]",
    found: ['historyWrong'],
  }),
  broker({
    fault: 'the listing of the fleet shows the time of the event as that of its receipt',
    file: 'broker/api/answers/views.js',
    find: 'creationTime: epochSeconds(row.receivedMs),',
    put: 'creationTime: epochSeconds(row.timestampMs),',
    found: ['mistimed'],
  }),
  broker({
    fault: 'the history of a device calls every record a location',
    file: eventText,
    find: 'json(statusText(Number(value)))',
    put: 'json(statusText(61472))',
    found: ['historyWrong'],
  }),
  broker({
    fault: 'the history of a device shows no state of commands',
    file: eventText,
    find: "['commandState', textOrNull('command_state')]",
    put: "['commandState', 'null']",
    found: ['historyWrong'],
  }),
  broker({
    fault: 'a panic is no alert',
    file: 'broker/core/events/activation.js',
    find: '62466, 63553, 63559, 63617]',
    put: '62466, 63559, 63617]',
    found: ['alertsWrong'],
  }),
  broker({
    fault: 'the summary counts the wrong category',
    file: 'broker/api/events/activations.js',
    find: "activations: of('activations'),",
    put: "activations: of('fuel'),",
    found: ['alertsWrong'],
  }),
  broker({
    fault: 'the inbox is empty',
    file: 'broker/api/notifications/notifications.js',
    find: 'notifications: viewed(allPages(list)) };',
    put: 'notifications: [] };',
    found: ['alertsWrong'],
  }),
  broker({
    fault: 'nothing comes to the inbox',
    file: 'broker/notify/notifier.js',
    find: 'return [insertNotification(row, { isLate: event.isLate, onlyIf }), ...written];',
    put: 'return written;',
    found: ['alertsWrong'],
  }),
  broker({
    fault: 'the live stream drops half of the events',
    file: 'broker/live/selection.js',
    find: 'return isWanted ? made(texts, () => eventMessage(event, fields))',
    put: 'return isWanted && event.timestampMs % 2 === 0 ? made(texts, () => eventMessage(event, fields))',
    found: ['streamWrong'],
  }),
  broker({
    fault: 'the live stream sends events twice',
    file: 'broker/live/selection.js',
    find: 'made(texts, () => eventMessage(event, fields))',
    put: 'made(texts, () => eventMessage(event, fields).repeat(2))',
    found: ['streamWrong'],
  }),
  broker({
    fault: 'the list of commands lacks the newest',
    file: 'broker/api/commands/command-records.js',
    find: 'commands: page.map(viewCommandRecord), more, next',
    put: 'commands: page.slice(1).map(viewCommandRecord), more, next',
    found: ['commandsWrong'],
  }),
  broker({
    fault: 'commands never leave',
    file: 'broker/commands/command-sender.js',
    find: "const left = await publish(row, { verb: 'commands', payload, qos: 1 });\n        const { accountID, deviceID, feature, state } = row;",
    put: 'const left = 0;\n        const { accountID, deviceID, feature, state } = row;',
    found: ['commandUndelivered'],
  }),
  broker({
    fault: 'restores go to the other relay',
    file: 'broker/commands/command-sender.js',
    find: 'feature,\n        state: row.state,',
    put: "feature: row.state === '1' ? feature : feature === 'enginecutoff' ? 'cargoaccess' : 'enginecutoff',\n        state: row.state,",
    found: ['wrongRelay', 'notRestored', 'falseConfirmation'],
  }),
  broker({
    fault: 'a command counts as confirmed when the vehicle has received it',
    file: projections,
    find: 'const advance = advanceCommand({ deviceNo, ...report, reportedMs, atMs });',
    put: "const advance = advanceCommand({ deviceNo, ...report, commandState: 'confirmed', reportedMs, atMs });",
    found: ['falseConfirmation', 'commandsWrong'],
  }),
  broker({
    fault: 'any secret of a device is accepted',
    file: 'broker/store/devices/device-secret.js',
    find: 'Buffer.alloc(given.length)) && isKnown;',
    put: 'Buffer.alloc(given.length)) || isKnown;',
    found: ['accessWrong'],
  }),
  broker({
    fault: 'devices of all accounts are visible',
    file: 'broker/store/base/scope.js',
    find: '`d.account_id = ${accountID}${named}`',
    put: "`d.account_id <> ''${named}`",
    found: ['accessWrong'],
  }),
  agent({
    fault: 'a panic press makes no event',
    file: sensing,
    find: 'if (statusCode !== null)\n        commitNow',
    put: "if (statusCode !== null && signal !== 'panic')\n        commitNow",
    found: ['unnoticed'],
  }),
  agent({
    fault: 'doors make no event',
    file: sensing,
    find: 'if (statusCode !== null)\n        commitNow',
    put: "if (statusCode !== null && signal !== 'cabinDoor')\n        commitNow",
    found: ['unnoticed'],
  }),
  agent({
    fault: 'opened and closed are exchanged',
    file: 'agent/core/sensor-events.js',
    find: 'return statusCodes[value ? change.on : change.off].code;',
    put: 'return statusCodes[value ? change.off : change.on].code;',
    found: ['unnoticed', 'invented'],
  }),
  agent({
    fault: 'no position is recorded',
    file: sensing,
    find: 'for (const report of step.reports)',
    put: 'for (const report of step.reports.slice(step.reports.length))',
    found: ['untracked'],
  }),
  agent({
    fault: 'positions are 55 km off',
    file: place,
    find: 'latitude: fix.latitude,',
    put: 'latitude: fix.latitude + 0.5,',
    found: ['misplaced'],
  }),
  agent({
    fault: 'positions are 200 m off',
    file: place,
    find: 'longitude: fix.longitude,',
    put: 'longitude: fix.longitude + 0.0027,',
    found: ['misplaced'],
  }),
  agent({
    fault: 'the first position is repeated for ever',
    file: sensing,
    find: 'put(context, { fix });',
    put: 'put(context, { fix: context.state.fix ?? fix });',
    found: ['misplaced'],
  }),
  agent({
    fault: 'speeds are in knots',
    file: place,
    find: 'speed: Math.round(fix.speedKmh * 10) / 10',
    put: 'speed: Math.round(fix.speedKmh * 5.4) / 10',
    found: ['misplaced'],
  }),
  agent({
    fault: 'times are half a minute late',
    file: stamping,
    find: 'origin.originMs + upMs,',
    put: 'origin.originMs + upMs + 30_000,',
    found: ['mistimed', 'misplaced'],
  }),
  agent({
    fault: 'the ignition is reported the other way round',
    file: stamping,
    find: 'known[name] = value;',
    put: "known[name] = name === 'ignition' ? !value : value;",
    found: ['presentWrong'],
  }),
  agent({
    fault: 'odometers count each metre twice',
    file: counting,
    find: 'state.odometerM + pace.wayM;',
    put: 'state.odometerM + 2 * pace.wayM;',
    found: ['odometerWrong'],
  }),
  agent({
    fault: 'odometers begin at zero with each start of the agent',
    file: 'agent/core/vehicle/vehicle-start.js',
    find: 'createReporting(memory.odometerM)',
    put: 'createReporting(0)',
    found: ['odometerWrong'],
  }),
  agent({
    fault: 'odometers are in miles',
    file: stamping,
    find: shownOdometer,
    put: 'odometer: Math.round(state.reporting.odometerM) / 1609,',
    found: ['odometerWrong'],
  }),
  agent({
    fault: 'odometers stay where they are',
    file: stamping,
    find: shownOdometer,
    put: 'odometer: 12_345,',
    found: ['odometerWrong'],
  }),
  agent({
    fault: 'the level of the tank is a constant',
    file: stamping,
    find: shownLevel,
    put: '{ fuelLevel: 0.62 }',
    found: ['fuelWrong'],
  }),
  agent({
    fault: 'the level of the tank is the empty part',
    file: stamping,
    find: shownLevel,
    put: '{ fuelLevel: Math.round((1 - fuel) * 1000) / 1000 }',
    found: ['fuelWrong'],
  }),
  agent({
    fault: 'the level of the tank is a hundredth of it',
    file: stamping,
    find: shownLevel,
    put: '{ fuelLevel: Math.round(fuel * 10) / 1000 }',
    found: ['fuelWrong'],
  }),
  agent({
    fault: 'the level of the tank is read from the register of the supply voltage',
    file: 'agent/core/board/board-decode.js',
    find: 'const raw = at(signal.address);',
    put: 'const raw = at(signal.address + 1) ?? at(signal.address);',
    found: ['fuelWrong'],
  }),
  ...accountMutants,
  ...busMutants,
  ...operationMutants,
  ...readingMutants,
  ...restartMutants,
];

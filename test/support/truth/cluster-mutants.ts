// Faults of what stands between vehicles and bridges: RabbitMQ's queues, what leaves through it, and what one bridge learns of another.
// Data; `test/cluster/truth.test.ts` puts each into both bridges.
import { broker, type TruthMutant } from './truth-mutant.ts';

const scenario = 'cluster';
const consumers = 'broker/adapters/cluster/rabbitmq.js';
const outlet = 'broker/adapters/cluster/rabbitmq-outlet.js';

export const clusterMutants: readonly TruthMutant[] = [
  broker({
    fault: 'the events of every third vehicle are taken from the queue and dropped',
    file: consumers,
    find: "return uplink === null || (await uplinks.handle(uplink, isWanted)).kind !== 'unwanted';",
    put: "if (uplink !== null && /[369]$/.test(uplink.device.deviceID)) return true; return uplink === null || (await uplinks.handle(uplink, isWanted)).kind !== 'unwanted';",
    found: ['lost'],
    scenario,
  }),
  broker({
    fault: 'what every third vehicle says of itself is taken from the queue and dropped',
    file: consumers,
    find: "const isOffline = uplink.verb === 'presence' && Buffer.from(uplink.payload).equals(offline);",
    put: "if (uplink.verb === 'hello' && /[369]$/.test(uplink.device.deviceID)) return true; const isOffline = uplink.verb === 'presence' && Buffer.from(uplink.payload).equals(offline);",
    found: ['lost', 'commandUndelivered', 'presentWrong'],
    scenario,
  }),
  broker({
    fault: 'commands are called sent and never leave the bridge',
    file: outlet,
    find: 'const channel = current;\n            if (channel',
    put: "const channel = current;\n            if (verb === 'commands') return Promise.resolve(true);\n            if (channel",
    found: ['commandUndelivered'],
    scenario,
  }),
  broker({
    fault: 'what is for one vehicle goes to the queue of another',
    file: outlet,
    find: 'formatRoutingKey(device, verb)',
    put: "formatRoutingKey(verb === 'commands' ? { ...device, deviceID: device.deviceID.replace(/.$/, (last) => (last === '1' ? '2' : '1')) } : device, verb)",
    found: ['commandUndelivered'],
    scenario,
  }),
  broker({
    fault: 'the cluster lets a vehicle in with any secret',
    file: 'broker/adapters/cluster/rabbitmq-auth.js',
    find: 'if (await logIn(device, Buffer.from(secret))) {',
    put: 'if ((await logIn(device, Buffer.from(secret))) || true) {',
    found: ['accessWrong'],
    scenario,
  }),
  broker({
    fault: 'the live stream of a bridge leaves out what another bridge stored',
    file: 'broker/live/follower.js',
    find: 'from.eventNo = page.at(-1)?.eventNo ?? from.eventNo;\n            offer(page);',
    put: 'from.eventNo = page.at(-1)?.eventNo ?? from.eventNo;',
    found: ['streamWrong'],
    scenario,
  }),
];

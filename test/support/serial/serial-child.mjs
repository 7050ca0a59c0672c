// A process that opens and closes the serial port PATH again and again, and prints after each round what came of it and
// whether other work still gets a thread. Ends by itself once a port opens after one was refused
// and no call hangs, or when it is killed.
import { writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { driverStuckMs, hangingCalls } from '../../../dist/agent/adapters/serial-driver.js';
import { openSerialPort } from '../../../dist/agent/adapters/serial-port.js';

const [path, rounds] = process.argv.slice(2);
const line = { path, baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 };
const handlers = { onBytes() {}, onDown() {} };

async function openAndClose() {
  try {
    const link = await openSerialPort(line, handlers);
    await link.close();
    return 'opened';
  } catch (thrown) {
    return thrown.message;
  }
}

let wasRefused = false;
for (let round = 0; round < Number(rounds); round += 1) {
  const outcome = await Promise.race([openAndClose(), sleep(120_000, 'neither opened nor refused')]);
  const others = await Promise.race([stat('/').then(() => 'work'), sleep(60_000, 'starve')]);
  const stuck = driverStuckMs() > 0;
  const hanging = hangingCalls();
  writeSync(1, `${JSON.stringify({ outcome, others, hanging, stuck })}\n`);
  // One of the calls may come back a moment before the other.
  if (wasRefused && outcome === 'opened' && hanging === 0) break;
  if (outcome.includes('hang')) wasRefused = true;
  if (outcome.includes('hang')) await sleep(250);
}
process.kill(process.pid, 'SIGKILL');

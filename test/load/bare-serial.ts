// The yardstick of a parked agent: the same requests to the same board, the same port adapter and the same sentences of the receiver, and no work
// on any of it. argv[2] is the port of the board, argv[3] that of the receiver. It ends with its standard input.
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { crc16 } from '../../agent/core/board/modbus-frame.ts';

const [board = '', gnss = ''] = process.argv.slice(2);
const line = { baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 } as const;
const pollMs = 40;

function request(unit: number, code: number, count: number): Uint8Array {
  const body = Uint8Array.of(unit, code, 0, 0, 0, count);
  const sum = crc16(body);
  return Uint8Array.of(...body, sum & 255, sum >> 8);
}

/** As the profile has them: inputs every 40 ms, analog values each second, relays every five. */
const inputs = request(1, 2, 8);
const analogs = request(2, 4, 2);
const relays = request(1, 1, 8);

let bytes = 0;
const handlers = {
  onBytes: (chunk: Uint8Array): void => void (bytes += chunk.length),
  onDown: (reason: string): void => {
    process.stderr.write(`bare serial program: ${reason}\n`);
    process.exit(1);
  },
};
const link = await openSerialPort({ path: board, ...line }, handlers);
await openSerialPort({ path: gnss, ...line }, handlers);
let polls = 0;
setInterval(() => {
  polls += 1;
  link.write(polls % 125 === 0 ? relays : polls % 25 === 0 ? analogs : inputs);
}, pollMs);
process.stdin.on('end', () => process.exit(bytes > 0 ? 0 : 1)).resume();
console.log('ready');

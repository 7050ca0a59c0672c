// Modem and SIM by ModemManager's `mmcli`: run without a shell, for a limited time, with a limited answer. An absent program, an absent modem and an
// answer that is none give no reading, with the reason. The interface's own counters come from /sys.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { type ModemReading, parseModem, parseSim } from '../core/modem/modem-reading.ts';

const limits = {
  /** ModemManager answers from memory; a bus or a service that hangs is left alone. */
  timeoutMs: 5000,
  /** An answer about a modem has some 5 kB. */
  answerBytes: 64 * 1024,
} as const;

function run(program: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      timeout: limits.timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: limits.answerBytes,
      env: { LC_ALL: 'C' },
    } as const;
    execFile(program, [...words], options, (fault, answer, complaint) => {
      if (fault === null) return resolve(answer);
      const why = complaint.split('\n')[0]?.slice(0, 200) ?? '';
      reject(new AppError('unavailable', why === '' ? messageOf(fault).slice(0, 200) : why));
    });
  });
}

/** A counter of the kernel (Documentation/ABI/testing/sysfs-class-net-statistics); null when it is not there. */
async function counter(path: string): Promise<number | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return /^\d{1,15}\s*$/.test(text) ? Number(text) : null;
}

async function bytesOf(net: string | null, netRoot: string): Promise<number | null> {
  if (net === null) return null;
  const folder = `${netRoot}/${net}/statistics`;
  const [received, sent] = await Promise.all([counter(`${folder}/rx_bytes`), counter(`${folder}/tx_bytes`)]);
  return received === null || sent === null ? null : received + sent;
}

/**
 * Reads modem and SIM once.
 * @param netRoot folder of the kernel's network interfaces.
 * @throws AppError `unavailable` with the reason.
 */
export async function readModem(program: string, netRoot = '/sys/class/net'): Promise<ModemReading> {
  const found = parseModem(await run(program, ['-m', 'any', '-J']));
  if (found === null) throw new AppError('unavailable', 'mmcli gave no answer about a modem');
  const { sim, net } = found.paths;
  // A modem without a SIM, or with one that is locked, is still a modem.
  const iccid = sim === null ? null : await run(program, ['-i', sim, '-J']).then(parseSim, () => null);
  return { ...found.reading, iccid, bytes: await bytesOf(net, netRoot) };
}

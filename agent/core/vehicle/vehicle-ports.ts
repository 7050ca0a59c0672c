// The vehicle's two serial ports: what they bring, and what is said of them when they go and come. Pure.
import { isLossNews, type PortInput, type PortOptions, stepPort } from '../port.ts';
import { feedBoard } from './vehicle-control.ts';
import { noteLoss } from './vehicle-diagnosis.ts';
import { takeGnssBytes, tellBoard } from './vehicle-sensing.ts';
import { log, type PortName, put, vehicleLimits, type Work } from './vehicle-state.ts';

export function portOptions(work: Work, name: PortName): PortOptions {
  const options = vehicleLimits.port[name];
  return name === 'gnss' ? { ...options, silenceMs: work.config.gnssSilenceMs } : options;
}

/** One input of a port. */
export function stepPortOf(work: Work, name: PortName, input: PortInput): void {
  const options = portOptions(work, name);
  const { monoMs, fraction } = work.now;
  const before = work.state.ports[name];
  const { state, effects } = stepPort(before, input, { ms: monoMs, fraction, options });
  if (state !== before) put(work, { ports: { ...work.state.ports, [name]: state } });
  for (const effect of effects) {
    if (effect.kind === 'open') work.effects.push({ kind: 'openPort', port: name });
    if (effect.kind === 'close') work.effects.push({ kind: 'closePort', port: name });
    if (effect.kind !== 'lost') continue;
    // The first failure after a working link is news; the retries that follow are not.
    if (isLossNews(before)) {
      log(work, 'warn', 'port lost', { port: name, reason: effect.reason });
      noteLoss(work, name);
    }
    if (name !== 'board') continue;
    feedBoard(work, { kind: 'down', atMs: monoMs, reason: effect.reason });
    tellBoard(work, 'lost', effect.reason);
  }
}

/** Whether a whole and sound answer is there now. */
function hearBoard(work: Work, bytes: Uint8Array): boolean {
  feedBoard(work, { kind: 'bytes', bytes, atMs: work.now.monoMs });
  return work.state.board.master.phase.kind === 'settling';
}

/** Bytes of an open port. */
export function takeBytes(work: Work, name: PortName, bytes: Uint8Array): void {
  if (work.state.ports[name].kind !== 'open') return;
  const isGood = name === 'board' ? hearBoard(work, bytes) : takeGnssBytes(work, bytes);
  stepPortOf(work, name, { kind: 'bytes', isGood });
}

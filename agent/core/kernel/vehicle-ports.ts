// The vehicle's two serial ports: their bytes, and the reports of their loss and return. Pure.
import { isFirstLoss, type PortInput, type PortOptions, stepPort } from '../serial-port-state.ts';
import { feedBoard } from './vehicle-control.ts';
import { handleGnssBytes, reportBoard } from './vehicle-sensing.ts';
import { addCount, log, put, type StepContext, vehicleLimits } from './vehicle-state.ts';
import type { PortName, VehicleConfig } from './vehicle-types.ts';

export function portOptions({ gnssSilenceMs }: VehicleConfig, name: PortName): PortOptions {
  const options = vehicleLimits.port[name];
  return name === 'gnss' ? { ...options, silenceMs: gnssSilenceMs } : options;
}

/** One input of a port. */
export function stepPortOf(context: StepContext, name: PortName, input: PortInput): void {
  const options = portOptions(context.config, name);
  const { monoMs, fraction } = context.now;
  const before = context.state.ports[name];
  const { state, effects } = stepPort(before, input, { ms: monoMs, fraction, options });
  if (state !== before) put(context, { ports: { ...context.state.ports, [name]: state } });
  for (const effect of effects) {
    if (effect.kind === 'open') context.effects.push({ kind: 'openPort', port: name });
    if (effect.kind === 'close') context.effects.push({ kind: 'closePort', port: name });
    if (effect.kind !== 'lost') continue;
    // The first failure after a working link is logged; the retries that follow are not.
    if (isFirstLoss(before)) {
      log(context, 'warn', 'port_lost', { port: name, reason: effect.reason });
      addCount(context, `${name}Losses`);
    }
    if (name !== 'board') continue;
    feedBoard(context, { kind: 'down', atMs: monoMs, reason: effect.reason });
    reportBoard(context, 'lost', effect.reason);
  }
}

/**
 * Bytes of an open port. True when they completed something: a sentence ended, or the board machine has a result.
 * Bytes that only continue an answer leave everything else as it is.
 */
export function handleBytes(context: StepContext, name: PortName, bytes: Uint8Array): boolean {
  if (context.state.ports[name].kind !== 'open') return false;
  if (name === 'gnss') {
    const isGood = handleGnssBytes(context, bytes);
    stepPortOf(context, name, { kind: 'bytes', isGood });
    return isGood;
  }
  const isRelevant = feedBoard(context, { kind: 'bytes', bytes, atMs: context.now.monoMs });
  // A whole and sound answer waits for the silence behind it.
  stepPortOf(context, name, { kind: 'bytes', isGood: context.state.board.master.phase.kind === 'settling' });
  return isRelevant;
}

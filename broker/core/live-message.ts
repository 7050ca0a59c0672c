// Messages of the live stream as text of `text/event-stream` (WHATWG HTML, section 9.2). Pure. Names are those of the
// Device and of the event data record, so that a client can lay a message over what it already holds.
import type { CommandState } from '../../src/core/event.ts';
import { statusText } from '../../src/core/status-codes.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import type { Presence } from './live-presence.ts';
import { reasonText } from './reported-reason.ts';

/** An event as a stream tells it, from the commit or from the store. */
export interface LiveEvent {
  readonly eventNo: number;
  readonly accountID: string;
  readonly deviceNo: number;
  readonly deviceID: string;
  readonly boot: string;
  readonly seq: number;
  readonly timestampMs: number;
  readonly receivedMs: number;
  readonly statusCode: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly speed: number | null;
  readonly heading: number | null;
  readonly geozoneID: string;
  readonly commandID: string | null;
  readonly commandState: CommandState | null;
}

/** A command of the ledger as a stream tells it. */
export interface LiveCommand {
  readonly accountID: string;
  readonly deviceNo: number;
  readonly deviceID: string;
  readonly commandID: string;
  readonly feature: string;
  readonly state: string;
  readonly commandState: string;
  readonly detail: string;
  readonly verdict: Verdict | null;
  readonly isFinal: boolean;
  readonly expiresMs: number;
  readonly updatedMs: number;
}

const seconds = (ms: number): number => Math.max(0, Math.floor(ms / 1000));

interface Message {
  readonly name: string;
  readonly data: object;
  /** Resume point: everything up to this event was told. */
  readonly id?: number;
}

// JSON has no line breaks, so the data is always one line.
function message({ name, data, id }: Message): string {
  const head = id === undefined ? '' : `id: ${id}\n`;
  return `${head}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Opens a stream. @param id resume point; none while missed events are still to come. */
export function helloMessage(hello: { readonly eventNo: number; readonly id?: number }): string {
  const { eventNo, id } = hello;
  return `retry: 3000\n${message({ name: 'hello', data: { eventNo }, ...(id === undefined ? {} : { id }) })}`;
}

const hints = {
  unknown: 'The resume point is not known here.',
  old: 'The resume point is too old.',
  gap: 'Too many events came since the resume point.',
  scope: 'The devices that you may see have changed.',
} as const;
export type ResetReason = keyof typeof hints;

/** Tells that something was not sent: the client must read the present again. */
export function resetMessage(reset: { readonly reason: ResetReason; readonly id?: number }): string {
  const { reason, id } = reset;
  const hint = `${hints[reason]} Read getalldevices and what else you show again; this stream goes on from now.`;
  return message({ name: 'reset', data: { reason, hint }, ...(id === undefined ? {} : { id }) });
}

/** A comment that keeps the connection open and moves the resume point; it is no message to a client. */
export function keepAlive(id: number): string {
  return `: keep-alive\nid: ${id}\n\n`;
}

/** An event that is not routine. */
export function eventMessage(event: LiveEvent): string {
  const data = {
    deviceID: event.deviceID,
    eventID: `${event.boot}:${event.seq}`,
    statusCode: event.statusCode,
    statusDescription: statusText(event.statusCode),
    timestamp: seconds(event.timestampMs),
    creationTime: seconds(event.receivedMs),
    isPositionValid: event.latitude !== null && event.longitude !== null,
    latitude: event.latitude ?? 0,
    longitude: event.longitude ?? 0,
    speed: Math.round(event.speed ?? 0),
    heading: Math.round(event.heading ?? 0) % 360,
    geozoneID: event.geozoneID,
    commandID: event.commandID,
    commandState: event.commandState,
  };
  return message({ name: 'event', data, id: event.eventNo });
}

/** The present of a device; members without news are left out. */
export function deviceMessage({ deviceID, heartbeatMs, position, fuel }: Presence): string {
  const place =
    position === null
      ? {}
      : {
          deviceLastValidTimestamp: seconds(position.ms),
          deviceLastValidLatitude: position.latitude,
          deviceLastValidLongitude: position.longitude,
          deviceLastValidSpeed: Math.round(position.speed),
          deviceLastValidHeading: Math.round(position.heading) % 360,
          deviceLastGeozoneID: position.geozoneID,
        };
  const level = fuel === null ? {} : { fuelLevelAverage: String(Number(fuel.value.toFixed(3))) };
  const data = { deviceID, deviceLastHeartbeat: seconds(heartbeatMs), ...place, ...level };
  return message({ name: 'device', data });
}

/** Where a command stands in the ledger. */
export function commandMessage(command: LiveCommand): string {
  const data = {
    commandID: command.commandID,
    deviceID: command.deviceID,
    feature: command.feature,
    state: command.state,
    pendingState: command.isFinal ? null : command.state,
    pendingReason: reasonText(command) || null,
    verdict: command.verdict,
    commandState: command.commandState,
    expires: seconds(command.expiresMs),
  };
  return message({ name: 'command', data });
}

// Messages of the live stream as `text/event-stream` (WHATWG HTML, section 9.2). Pure. Member names are those of the Device
// and of the event data record, so that a client can merge a message into its data.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import type { CommandState } from '../../../src/core/events/event.ts';
import { statusText } from '../../../src/core/events/status-codes.ts';
import { chosenOf, type LiveChange } from './live-kinds.ts';
import type { Presence } from './live-presence.ts';

/** An event as a stream sends it, from the commit or from the store. */
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

interface Message {
  readonly name: string;
  readonly data: object;
  /** Resume point: everything up to this event was sent. */
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

/** Reports that something was not sent: the client must read the present again. */
export function resetMessage(reset: { readonly reason: ResetReason; readonly id?: number }): string {
  const { reason, id } = reset;
  const hint = `${hints[reason]} Read getalldevices and what else you show again; this stream goes on from now.`;
  return message({ name: 'reset', data: { reason, hint }, ...(id === undefined ? {} : { id }) });
}

/** A comment that keeps the connection open and moves the resume point; it is no message to a client. */
export function keepAlive(id: number): string {
  return `: keep-alive\nid: ${id}\n\n`;
}

/** Members that the reader chose; null: all. */
type Fields = ReadonlySet<string> | null;

/** What is not known is null, never 0. */
export const wholeOrNull = (value: number | null): number | null =>
  value === null ? null : Math.round(value);
/** Whole degrees, 0 to 359. */
export const headingOrNull = (degrees: number | null): number | null =>
  degrees === null ? null : Math.round(degrees) % 360;

/** An event that is not routine. */
export function eventMessage(event: LiveEvent, fields: Fields): string {
  const data = {
    deviceID: event.deviceID,
    eventID: `${event.boot}:${event.seq}`,
    statusCode: event.statusCode,
    statusDescription: statusText(event.statusCode),
    timestamp: epochSeconds(event.timestampMs),
    creationTime: epochSeconds(event.receivedMs),
    isPositionValid: event.latitude !== null && event.longitude !== null,
    latitude: event.latitude ?? 0,
    longitude: event.longitude ?? 0,
    speed: wholeOrNull(event.speed),
    heading: headingOrNull(event.heading),
    geozoneID: event.geozoneID,
    commandID: event.commandID,
    commandState: event.commandState,
  };
  return message({ name: 'event', data: chosenOf(data, fields), id: event.eventNo });
}

/** The present of a device; unchanged members are left out. */
export function deviceMessage({ deviceID, heartbeatMs, position, fuel }: Presence, fields: Fields): string {
  const place =
    position === null
      ? {}
      : {
          deviceLastValidTimestamp: epochSeconds(position.ms),
          deviceLastValidLatitude: position.latitude,
          deviceLastValidLongitude: position.longitude,
          deviceLastValidSpeed: wholeOrNull(position.speed),
          deviceLastValidHeading: headingOrNull(position.heading),
          deviceLastGeozoneID: position.geozoneID,
        };
  const level = fuel === null ? {} : { fuelLevelAverage: String(Number(fuel.value.toFixed(3))) };
  const data = { deviceID, deviceLastHeartbeat: epochSeconds(heartbeatMs), ...place, ...level };
  return message({ name: 'device', data: chosenOf(data, fields) });
}

/** Something that changed in the store. */
export function changeMessage({ kind, data }: LiveChange, fields: Fields): string {
  return message({ name: kind, data: chosenOf(data, fields) });
}

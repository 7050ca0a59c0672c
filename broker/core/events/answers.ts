// Parses a unit's answer to a request from its events. Pure. Units may be foreign or broken: only exact answers count, and
// their size is bounded by the event's own limits.

import type { FleetEvent } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { isId } from '../../../src/core/ids.ts';
import {
  isRehearsal,
  type RequestKind,
  requestKinds,
  requestLimits,
} from '../../../src/core/wire/device-request.ts';
import { storableText } from '../commands/reported-reason.ts';

export interface Answer {
  readonly requestID: string;
  /** What it answers; of a refusal what was asked for is not looked at. */
  readonly kind: RequestKind | 'refused';
  /** 1 up to `parts`. */
  readonly part: number;
  readonly parts: number;
  /** JSON of the attributes, with the position of a `position`. */
  readonly content: string;
  /** Why it was refused; empty otherwise. */
  readonly reason: string;
}

const { DIAGNOSTIC, QUERY } = statusCodes;

/** A Diagnostic event with the unit's health; other answers and refusals have the same code and do not. */
export function isOwnHealth({ statusCode, attributes }: FleetEvent): boolean {
  if (statusCode !== DIAGNOSTIC.code || attributes === undefined) return false;
  const kind = attributes['kind'];
  return kind !== 'log' && kind !== 'refused' && !isRehearsal(kind);
}

function kindOf({ statusCode, attributes }: FleetEvent): Answer['kind'] | null {
  const reported = attributes?.['kind'];
  if (statusCode === QUERY.code) return reported === 'position' ? 'position' : null;
  if (statusCode !== DIAGNOSTIC.code) return null;
  if (reported === 'refused') return 'refused';
  return requestKinds.find((kind) => kind === reported && kind !== 'position') ?? null;
}

/** Where the event says that the vehicle was, for a `position`. */
function placeOf(event: FleetEvent): object {
  const { latitude, longitude, speed, heading, altitude, hdop, satellites, geozoneID, timestamp } = event;
  return { latitude, longitude, speed, heading, altitude, hdop, satellites, geozoneID, timestamp };
}

const isPart = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= requestLimits.parts;

/** What an event answers; null when it answers nothing. */
export function answerOf(event: FleetEvent): Answer | null {
  const { attributes } = event;
  const requestID = attributes?.['requestID'];
  if (attributes === undefined || typeof requestID !== 'string' || !isId(requestID)) return null;
  const kind = kindOf(event);
  if (kind === null) return null;
  const { part = 1, parts = 1, reason } = attributes;
  if (kind === 'log' && !(isPart(part) && isPart(parts) && part <= parts)) return null;
  const content =
    kind === 'position'
      ? { ...attributes, ...placeOf(event) }
      : isRehearsal(kind)
        ? { ...attributes, timestamp: event.timestamp }
        : attributes;
  return {
    requestID,
    kind,
    part: kind === 'log' && isPart(part) ? part : 1,
    parts: kind === 'log' && isPart(parts) ? parts : 1,
    content: JSON.stringify(content),
    reason: kind === 'refused' ? storableText(reason) : '',
  };
}

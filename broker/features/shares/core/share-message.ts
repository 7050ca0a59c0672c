// Messages of the stream of a share link as `text/event-stream` (WHATWG HTML, section 9.2), and the position in them. Pure. What a
// holder gets of a vehicle is named here, member by member.

import { headingOrNull, wholeOrNull } from '../../../core/live/live-message.ts';

/** A last known position; `fixMs` is its event time. */
export interface Shareable {
  readonly fixMs: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | null;
  readonly heading: number | null;
}

/** The position for a holder: about a metre, whole km/h and degrees. */
export function viewShared({ fixMs, latitude, longitude, speed, heading }: Shareable) {
  const degrees = (value: number): number => Math.round(value * 1e5) / 1e5;
  return {
    timestamp: Math.floor(fixMs / 1000),
    latitude: degrees(latitude),
    longitude: degrees(longitude),
    speed: wholeOrNull(speed),
    heading: headingOrNull(heading),
  };
}

/** The first text: a client that was cut comes back after 3 s. */
export const shareOpening = 'retry: 3000\n\n';

// JSON has no line breaks, so the data is always one line.
export function sharedPositionMessage(position: Shareable): string {
  return `event: position\ndata: ${JSON.stringify(viewShared(position))}\n\n`;
}

/** The share has ended; nothing follows. */
export const shareEndMessage = 'event: end\ndata: {}\n\n';

/** The position that was sent last is the newest; it is no message to a client. */
export const shareKeepAlive = ': keep-alive\n\n';

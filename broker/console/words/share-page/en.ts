// The page of a share link in English. Spans and numbers come from `Intl`.
import type { Widened } from '../base/catalogue.ts';

export const sharePageTexts = {
  /** For `Intl`. */
  locale: 'en',
  titles: { live: 'Shared vehicle', trip: 'Shared trip', none: 'Share link' },
  until: (time: string) => `Shared until ${time}`,
  loading: 'Loading',
  link: { opening: 'Connecting', live: 'Live', down: 'Not live' },
  downHint: (span: string) => `What you see is ${span} old. Connecting again`,
  faults: {
    busy: 'This link is open too often, or the service is busy',
    unreachable: 'The service does not answer',
  },
  faultHint: 'It is tried again by itself',
  ends: {
    incomplete: 'This link is incomplete',
    unknown: 'This link shows nothing',
    expired: 'This link has expired',
    revoked: 'The sharing was ended',
  },
  endHints: {
    incomplete: 'Open it with all its characters, as it was sent to you',
    unknown: 'It has expired, was ended, or is not right. Ask the person who sent it to you',
    expired: 'Ask the person who sent it to you for a new one',
    revoked: 'It was ended before its time. Ask the person who sent the link to you',
  },
  speed: 'Speed',
  speedUnknown: 'not known',
  place: 'Position',
  reported: 'Reported',
  noPosition: 'No position yet',
  noPositionHint: 'It appears here when the vehicle reports one',
  way: 'The line is the way since you opened this page',
  from: 'From',
  to: 'To',
  distance: 'Distance',
  noWay: 'No position was recorded in this time',
  map: 'Map; the values on this page hold the same',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  show: 'Show the vehicle',
  fit: 'Show the whole trip',
  noWebgl: 'The map needs WebGL, which this browser does not offer. The values on this page hold the same',
  only: 'You see this vehicle and nothing else',
  onlyTrip: 'You see this trip and nothing else',
} as const;

export type SharePageTexts = Widened<typeof sharePageTexts>;

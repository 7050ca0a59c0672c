// Die Seite eines geteilten Links, deutsch.
import type { SharePageTexts } from './en.ts';

export const sharePageTexts: SharePageTexts = {
  locale: 'de',
  titles: { live: 'Geteiltes Fahrzeug', trip: 'Geteilte Fahrt', none: 'Geteilter Link' },
  until: (time) => `Geteilt bis ${time}`,
  loading: 'Wird geladen',
  link: { opening: 'Verbindet', live: 'Live', down: 'Nicht live' },
  downHint: (span) => `Was Sie sehen, ist ${span} alt. Wird neu verbunden`,
  faults: {
    busy: 'Dieser Link ist zu oft geöffnet, oder der Dienst ist ausgelastet',
    unreachable: 'Der Dienst antwortet nicht',
  },
  faultHint: 'Es wird von selbst neu versucht',
  ends: {
    incomplete: 'Dieser Link ist unvollständig',
    unknown: 'Dieser Link zeigt nichts',
    expired: 'Dieser Link ist abgelaufen',
    revoked: 'Das Teilen wurde beendet',
  },
  endHints: {
    incomplete: 'Öffnen Sie ihn mit allen Zeichen, so wie er Ihnen gesendet wurde',
    unknown:
      'Er ist abgelaufen, wurde beendet oder stimmt nicht. Fragen Sie die Person, die ihn gesendet hat',
    expired: 'Bitten Sie die Person, die ihn gesendet hat, um einen neuen',
    revoked: 'Es wurde vor der Zeit beendet. Fragen Sie die Person, die den Link gesendet hat',
  },
  speed: 'Geschwindigkeit',
  speedUnknown: 'nicht bekannt',
  place: 'Position',
  reported: 'Gemeldet',
  noPosition: 'Noch keine Position',
  noPositionHint: 'Sie erscheint hier, wenn das Fahrzeug eine meldet',
  way: 'Die Linie ist der Weg, seit Sie diese Seite geöffnet haben',
  from: 'Von',
  to: 'Bis',
  distance: 'Strecke',
  noWay: 'In dieser Zeit wurde keine Position aufgezeichnet',
  map: 'Karte; die Werte auf dieser Seite sagen dasselbe',
  zoomIn: 'Vergrößern',
  zoomOut: 'Verkleinern',
  show: 'Fahrzeug zeigen',
  fit: 'Ganze Fahrt zeigen',
  noWebgl:
    'Die Karte braucht WebGL, das dieser Browser nicht bietet. Die Werte auf dieser Seite sagen dasselbe',
  only: 'Sie sehen dieses Fahrzeug und sonst nichts',
  onlyTrip: 'Sie sehen diese Fahrt und sonst nichts',
};

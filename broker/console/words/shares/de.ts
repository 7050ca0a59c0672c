// Geteilte Links, deutsch.
import { counterOf, formatNumber } from '../base/format.ts';
import type { ShareTexts } from './en.ts';

const many = counterOf('de');

export const shareTexts: ShareTexts = {
  shares: {
    lead: 'Links, die ein Fahrzeug oder eine Fahrt Personen ohne Anmeldung zeigen',
    share: 'Teilen',
    titleLive: (name) => `${name} teilen`,
    titleTrip: (name) => `Eine Fahrt von ${name} teilen`,
    liveText: (name) => `Wer den Link hat, sieht, wo ${name} ist, und sonst nichts von dem Konto`,
    tripText: 'Wer den Link hat, sieht den Weg dieser Fahrt und sonst nichts von dem Konto',
    what: 'Was geteilt wird',
    kinds: { live: 'Position, live', trip: 'Fahrt' },
    life: 'Wie lange',
    lives: { '1': '1 Stunde', '4': '4 Stunden', '24': '24 Stunden', '72': '3 Tage', '168': '7 Tage' },
    endsAt: 'Endet',
    note: 'Notiz für die Person',
    noteHint: 'Der Link zeigt keine Namen. Sagen Sie, wer teilt und was',
    endsToo: 'Er endet auch, wenn Sie nicht mehr teilen dürfen oder das Fahrzeug nicht mehr sehen',
    ofVehicle: 'Alle Links zu diesem Fahrzeug',
    make: 'Link erstellen',
    link: 'Link',
    qr: 'QR-Code des Links',
    openLinks: (count) => many(count, 'offener Link', 'offene Links'),
    tripOf: (time) => `Fahrt von ${time} teilen`,
    all: 'Links zu allen Fahrzeugen',
    of: (name) => `Links zu ${name}`,
    allVehicles: 'Alle Fahrzeuge',
    filter: 'Nach Status filtern',
    filters: { open: 'Offen', ended: 'Beendet', all: 'Alle' },
    caption: 'Links, die neuesten zuerst',
    columns: {
      share: 'Link zu',
      state: 'Status',
      made: 'Erstellt von',
      until: 'Bis',
      used: 'Geöffnet',
      action: 'Aktion',
    },
    standings: { open: 'Offen', expired: 'Abgelaufen', revoked: 'Widerrufen' },
    revoke: 'Widerrufen',
    revokeOf: (name, note) =>
      note === '' ? `Link zu ${name} widerrufen` : `Link zu ${name} widerrufen: ${note}`,
    revokeTitle: (name) => `Link zu ${name} widerrufen`,
    revokeText: 'Er zeigt dann nichts mehr, auch wo er offen ist. Das lässt sich nicht zurücknehmen',
    empty: {
      open: 'Kein Link ist offen',
      ended: 'Kein Link endete in letzter Zeit',
      all: 'Noch keine Links',
    },
    emptyHint: 'Öffnen Sie ein Fahrzeug und drücken Sie Teilen. Beendete Links bleiben 30 Tage hier',
    newest: (most) => `Die neuesten ${formatNumber(most, 'de')} sind aufgeführt`,
    viewer: 'Fahrzeuge teilen Bediener und Administratoren',
    viewerHint: 'Fragen Sie jemanden aus Ihrem Konto',
  },
};

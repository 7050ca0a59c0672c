// Los enlaces compartidos, en español.
import { counterOf, formatNumber } from '../base/format.ts';
import type { ShareTexts } from './en.ts';

const many = counterOf('es');

export const shareTexts: ShareTexts = {
  shares: {
    lead: 'Enlaces que muestran un vehículo o un viaje a personas sin cuenta',
    share: 'Compartir',
    titleLive: (name) => `Compartir ${name}`,
    titleTrip: (name) => `Compartir un viaje de ${name}`,
    liveText: (name) => `Quien tiene el enlace ve dónde está ${name}, y nada más de la cuenta`,
    tripText: 'Quien tiene el enlace ve el camino de este viaje, y nada más de la cuenta',
    what: 'Qué se comparte',
    kinds: { live: 'Posición en directo', trip: 'Viaje' },
    life: 'Por cuánto tiempo',
    lives: { '1': '1 hora', '4': '4 horas', '24': '24 horas', '72': '3 días', '168': '7 días' },
    endsAt: 'Termina',
    note: 'Nota para la persona',
    noteHint: 'El enlace no muestra nombres. Diga quién comparte y qué',
    endsToo: 'También termina cuando usted ya no puede compartir o ya no ve el vehículo',
    ofVehicle: 'Todos los enlaces a este vehículo',
    make: 'Crear enlace',
    link: 'Enlace',
    qr: 'Código QR del enlace',
    openLinks: (count) => many(count, 'enlace abierto', 'enlaces abiertos'),
    tripOf: (time) => `Compartir el viaje de ${time}`,
    all: 'Enlaces a todos los vehículos',
    of: (name) => `Enlaces a ${name}`,
    allVehicles: 'Todos los vehículos',
    filter: 'Filtrar por estado',
    filters: { open: 'Abiertos', ended: 'Terminados', all: 'Todos' },
    caption: 'Enlaces, los más nuevos primero',
    columns: {
      share: 'Enlace a',
      state: 'Estado',
      made: 'Creado por',
      until: 'Hasta',
      used: 'Abierto (veces)',
      action: 'Acción',
    },
    standings: { open: 'Abierto', expired: 'Caducado', revoked: 'Anulado' },
    revoke: 'Anular',
    revokeOf: (name, note) =>
      note === '' ? `Anular el enlace a ${name}` : `Anular el enlace a ${name}: ${note}`,
    revokeTitle: (name) => `Anular el enlace a ${name}`,
    revokeText: 'Desde entonces no muestra nada, tampoco donde está abierto. No se puede deshacer',
    empty: {
      open: 'Ningún enlace está abierto',
      ended: 'Ningún enlace terminó hace poco',
      all: 'Aún no hay enlaces',
    },
    emptyHint: 'Abra un vehículo y pulse Compartir. Los enlaces terminados quedan aquí 30 días',
    newest: (most) => `Se muestran los ${formatNumber(most, 'es')} más nuevos`,
    viewer: 'Los operadores y administradores comparten vehículos',
    viewerHint: 'Pregunte a uno de su cuenta',
  },
};

// La bandeja, en español.
import { counterOf } from '../base/format.ts';
import type { InboxTexts } from './en.ts';

const many = counterOf('es');

export const inboxTexts: InboxTexts = {
  inbox: {
    filter: 'Filtrar por lo que ha visto',
    filters: { all: 'Todas', unviewed: 'Sin ver' },
    only: (vehicle) => `Solo ${vehicle}`,
    every: 'Mostrar todos los vehículos',
    caption: 'Notificaciones, las más recientes primero',
    columns: { what: 'Qué', vehicle: 'Vehículo', when: 'Cuándo', state: 'Estado' },
    empty: 'Aún no hay nada aquí',
    emptyHint:
      'Las alertas de los vehículos que usted ve, y lo que le envían las reglas, quedan aquí 90 días',
    allViewed: 'Ha visto todo',
    account: (user) => `Aviso de la cuenta sobre ${user}`,
    late: 'llegó tarde',
    lateAlarms: 'Alarmas atrasadas',
    fresh: 'Sin ver',
    viewed: 'Vista',
    mark: 'Marcar como vista',
    markOf: (what, vehicle) => `Marcar como vista: ${what}, ${vehicle}`,
    markAll: 'Marcar todas como vistas',
    marked: 'Todas están marcadas como vistas',
    alarm: 'Abrir la alarma',
    older: 'Mostrar anteriores',
    shown: (count) => many(count, 'notificación mostrada', 'notificaciones mostradas'),
    fromVehicles: {
      title: 'Mensajes de vehículos',
      none: 'No hay mensajes sin leer de vehículos',
      hint: 'Lo que las unidades de sus vehículos envían como texto aparece aquí durante 30 días',
      own: 'Solo para usted, de todos los vehículos',
      read: 'Marcar estos como leídos',
    },
    push: {
      title: 'Notificaciones de este navegador',
      text: 'Las reglas con push le avisan aquí, también con la consola cerrada y tras cerrar la sesión',
      states: {
        insecure: 'No es posible: las notificaciones necesitan HTTPS',
        unsupported: 'Este navegador no las ofrece',
        refused: 'Rechazadas para este sitio en los ajustes del navegador. Permítalas primero allí',
        off: 'Desactivadas en este navegador',
        on: 'Activadas en este navegador',
        other: 'Activadas en este navegador para otro usuario',
      },
      faults: {
        refused: 'El navegador no tiene permiso para notificar',
        no_service: 'El navegador no llegó a su servicio push',
        undeliverable: 'El servicio no puede enviar a este navegador',
      },
      switchOn: 'Activar en este navegador',
      switchOff: 'Desactivar en este navegador',
      failed: 'No se cambió nada',
    },
  },
};

// Toasts in Spanish.
import { counterOf } from '../base/format.ts';
import type { ToastTexts } from './en.ts';

const many = counterOf('es');

export const toastTexts: ToastTexts = {
  toasts: {
    back: 'La conexión ha vuelto',
    backHint: 'Lo que ve vuelve a ser en directo',
    more: (count) => `y ${many(count, 'alarma nueva más', 'alarmas nuevas más')}`,
    toAlarm: 'Ver la alarma',
    safe: {
      enginecutoff: {
        done: (vehicle) => `${vehicle} restablecido`,
        doneHint: 'El relé se leyó cerrado',
        notDone: (vehicle) => `El restablecimiento de ${vehicle} no terminó bien`,
      },
      cargoaccess: {
        done: (vehicle) => `Carga de ${vehicle} bloqueada`,
        doneHint: 'El cierre se leyó cerrado',
        notDone: (vehicle) => `El bloqueo de la carga de ${vehicle} no terminó bien`,
      },
    },
    ends: {
      enginecutoff: {
        confirmed: (vehicle) => `Motor de ${vehicle} cortado`,
        refused: (vehicle) => `Corte de ${vehicle} rechazado`,
        expired: (vehicle) => `Corte de ${vehicle} caducado`,
        unknown: (vehicle) => `Resultado del corte de ${vehicle} desconocido`,
      },
      cargoaccess: {
        confirmed: (vehicle) => `Carga de ${vehicle} desbloqueada`,
        refused: (vehicle) => `Desbloqueo de ${vehicle} rechazado`,
        expired: (vehicle) => `Desbloqueo de ${vehicle} caducado`,
        unknown: (vehicle) => `Resultado del desbloqueo de ${vehicle} desconocido`,
      },
    },
    endHints: {
      confirmed: 'El vehículo ha leído su relé',
      refused: 'Abra la orden para ver la razón',
      expired: 'No se hizo nada, y nada se repite por sí solo',
      unknown: 'Mire lo que comunica el vehículo',
    },
    toOrder: 'Ver la orden',
    notDoneHint: 'Abra el vehículo para ver la razón y qué hacer',
    toVehicle: 'Abrir el vehículo',
  },
};

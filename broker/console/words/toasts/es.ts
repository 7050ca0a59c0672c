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
    restored: (vehicle) => `${vehicle} restablecido`,
    restoredHint: 'El relé se leyó cerrado',
    notRestored: (vehicle) => `El restablecimiento de ${vehicle} no terminó bien`,
    notRestoredHint: 'Abra el vehículo para ver la razón y qué hacer',
    toVehicle: 'Abrir el vehículo',
  },
};

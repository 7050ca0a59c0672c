// La página sin red en español.
import { counterOf, formatNumber } from '../base/format.ts';
import type { OfflineTexts } from './en.ts';

const many = counterOf('es');
const n = (value: number): string => formatNumber(value, 'es');

export const offlineTexts: OfflineTexts = {
  offline: {
    title: 'Sin conexión',
    asOf: (time) => `Sin conexión, estado de las ${time}`,
    ageUnknown: 'Antigüedad desconocida: el reloj de este dispositivo se atrasó',
    again: 'El servicio no responde. Se intenta de nuevo solo',
    asking: 'Se pregunta al servicio',
    tryNow: 'Intentar ahora',
    remove: 'Quitar la imagen de este dispositivo',
    none: 'No se puede mostrar ninguna imagen de la flota',
    noneHint:
      'No se guarda ninguna en este dispositivo para usted, tiene más de 24 horas, o ha entrado otro usuario desde entonces. En Cuenta y preferencias se elige guardarla',
    noCommands:
      'Esta es la última imagen guardada. Desde aquí no se puede pedir nada a un vehículo, tampoco un restablecimiento',
    vehicles: (count) => many(count, 'vehículo', 'vehículos'),
    noVehicles: 'La imagen no tiene vehículos',
    shown: (shown, all) => `Se guardaron los ${n(shown)} más urgentes de ${n(all)}`,
    was: {
      moving: 'estaba en marcha',
      standing: 'estaba parado',
      unknown: 'la velocidad era desconocida',
      offline: 'estaba sin conexión',
      doubtful: 'la posición era dudosa',
    },
    map: 'Mapa de la última imagen; la lista de abajo contiene lo mismo',
    noMap: 'El mapa necesita WebGL, que este navegador no ofrece. La lista contiene lo mismo',
    zoomIn: 'Acercar',
    zoomOut: 'Alejar',
    fit: 'Mostrar todos los vehículos',
  },
};

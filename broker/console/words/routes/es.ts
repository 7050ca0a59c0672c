// The routes in Spanish.
import { counterOf } from '../base/format.ts';
import type { RouteTexts } from './en.ts';

const many = counterOf('es');

export const routeTexts: RouteTexts = {
  routes: {
    list: 'Rutas por nombre',
    find: 'Buscar una ruta en la lista',
    new: 'Nueva ruta',
    map: 'Mapa de las rutas; la lista de al lado contiene lo mismo',
    fit: 'Mostrar la ruta',
    empty: 'Todavía no hay rutas',
    emptyHint: 'Dibuje la primera: el camino que deben seguir los vehículos',
    noMatch: 'Ninguna ruta coincide',
    missing: (name) => `No existe la ruta ${name}`,
    selected: (name) => `Ruta elegida: ${name}`,
    length: 'Longitud',
    planned: 'Prevista para',
    plannedNone: 'No está prevista para ningún vehículo',
    plannedHint:
      'Juzgado con el código de los vehículos según la última posición de cada uno. Los vehículos no tienen las rutas: no pasa nada cuando uno deja la suya',
    vehicles: (count) => many(count, 'vehículo', 'vehículos'),
    keeps: { on: 'En la ruta', off: 'Fuera de la ruta', unknown: 'Sin posición' },
    removeHint: 'Se borra para todos los vehículos para los que está prevista. No se puede deshacer',
    viewer: 'Cambian las rutas los operadores y administradores que ven todos los vehículos de la ruta',
    newTitle: 'Dibujar una ruta',
    idTaken: 'Otra ruta tiene este identificador',
    full: 'Una ruta tiene como máximo 100 puntos. Mueva o quite uno',
    most: (count) => `Una ruta nombra como máximo ${count} vehículos`,
    save: 'Guardar la ruta',
  },
};

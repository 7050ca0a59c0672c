// Mapas de fondo y lugares con varios vehículos, en español.
import { counterOf, formatNumber } from '../base/format.ts';
import type { MapTexts } from './en.ts';

const many = counterOf('es');
const n = (value: number): string => formatNumber(value, 'es');

export const mapTexts: MapTexts = {
  baseMap: {
    choose: 'Mapa de fondo',
    world: 'Mundo, incorporado',
    style: (host) => `Mapa de ${host}`,
    osm: '© colaboradores de OpenStreetMap (ODbL)',
    worldInstead: 'En su lugar se muestra el mundo incorporado.',
    restDrawn:
      'El resto del mapa está dibujado. Un administrador del servicio puede permitir el host (mapStyle.origins).',
    faults: {
      gone: (name) =>
        name === ''
          ? 'El servicio ya no ofrece este mapa'
          : `El servicio ya no tiene el archivo de mapa ${name}`,
      truncated: (name) => `El archivo de mapa ${name} está incompleto. Cópielo de nuevo al servicio`,
      'not-pmtiles': (name) => `El archivo de mapa ${name} no es un archivo PMTiles de la versión 3`,
      'not-vector': (name) =>
        `El archivo de mapa ${name} contiene imágenes, o teselas comprimidas de otro modo que con gzip`,
      'not-base-map': (name) => `El archivo de mapa ${name} no es un mapa Protomaps de la versión 4`,
      unreachable: (name) => `El mapa ${name} no se puede leer`,
      'bad-style': (name) => `Lo que ofrece ${name} no es un estilo de mapa que se pueda dibujar`,
      host: (name) => `Una parte del mapa está en ${name}, que no está permitido`,
    },
  },
  here: {
    title: (count) => `${many(count, 'vehículo', 'vehículos')} en este lugar`,
    none: 'Ya no hay ningún vehículo en este lugar',
    list: 'Vehículos en este lugar, el más urgente primero',
    more: (count) => `${many(count, 'más', 'más')}; búsquelos en la lista de vehículos`,
  },
  live: {
    title: 'Mapa en vivo',
    vehicles: 'Vehículos',
    worstFirst: 'los peores primero',
    filter: 'Filtrar por estado',
    filters: {
      all: 'Todos',
      alarm: 'Alarma',
      moving: 'En marcha',
      standing: 'Parados',
      unknown: 'Velocidad desconocida',
      offline: 'Sin conexión',
      doubtful: 'Dudosos',
    },
    find: 'Buscar un vehículo en la lista',
    list: 'Vehículos, los peores primero',
    map: 'Mapa de los vehículos; la lista de al lado dice lo mismo',
    zones: 'Geozonas',
    empty: 'Todavía no hay vehículos',
    emptyHint: 'Un administrador crea un código de alta; introdúzcalo en el primer vehículo',
    noMatch: 'Ningún vehículo coincide',
    noMatchHint: 'Quite el filtro para verlos todos',
    clear: 'Quitar el filtro',
    noWebgl: 'El mapa necesita WebGL, que este navegador no ofrece. La lista dice lo mismo',
    zoomIn: 'Acercar',
    zoomOut: 'Alejar',
    fit: 'Mostrar todos los vehículos',
    rings: {
      act: 'Alarma sin responsable',
      'act-taken': 'Alarma con responsable',
      look: 'Alarma baja',
    },
    credit: 'Natural Earth, © GeoNames',
    cluster: (count, alarms) =>
      `${alarms === 0 ? '' : `${many(alarms, 'alarma', 'alarmas')}, `}${many(count, 'vehículo', 'vehículos')}`,
    shown: (shown, all) => `${n(shown)} de ${n(all)}`,
  },
};

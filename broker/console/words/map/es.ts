// Mapas de fondo y lugares con varios vehículos, en español.
import { counterOf } from '../base/format.ts';
import type { MapTexts } from './en.ts';

const many = counterOf('es');

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
    middle: 'En el mapa: abrir lo que está en su centro',
  },
};

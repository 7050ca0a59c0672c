// The reports in Spanish.
import { decisions, reportColumns, reportKinds } from '../../../../src/core/words/reports/es.ts';
import { counterOf, formatNumber } from '../base/format.ts';
import type { ReportTexts } from './en.ts';

const many = counterOf('es');
const n = (value: number): string => formatNumber(value, 'es');

export const reportTexts: ReportTexts = {
  reports: {
    pages: { label: 'Páginas de los informes', report: 'Informe', mail: 'Por correo' },
    kind: 'Informe',
    kinds: reportKinds,
    rows: (count) => many(count, 'fila', 'filas'),
    asOf: (time) => `estado a las ${time}`,
    readAgain: 'Leer de nuevo',
    print: 'Imprimir',
    printed: (account) => `Cuenta ${account}`,
    vehicles: 'Vehículos',
    fleet: 'Toda la flota',
    vehicleCount: (count) => many(count, 'vehículo', 'vehículos'),
    choose: 'Elegir vehículos',
    chosen: (what) => `Vehículos: ${what}`,
    findVehicle: 'Buscar un vehículo',
    noVehicle: 'Ningún vehículo coincide',
    most: (count) => `Un informe nombra como máximo ${count} vehículos`,
    moreVehicles: (count) => `y ${n(count)} más: búsquelos`,
    from: 'Desde',
    to: 'Hasta',
    apply: 'Mostrar este período',
    between: (from, to) => `${from} a ${to}`,
    code: 'Tipo de evento',
    empty: {
      summary: 'Ningún vehículo está en este informe',
      trips: 'Ningún viaje empezó en este período',
      stops: 'Ninguna parada empezó en este período',
      alarms: 'No hubo alarmas en este período',
      decisions: 'Ningún corte pidió una segunda persona en este período',
      events: 'No hay eventos de este tipo en este período',
    },
    emptyHint: 'Elija un período más largo u otros vehículos',
    reading: (done, all) => `${n(done)} de ${n(all)} vehículos leídos`,
    readingRows: (count) => many(count, 'fila leída', 'filas leídas'),
    stop: 'Detener la lectura',
    stopped: 'La lectura se detuvo',
    stoppedHint: 'No se muestra nada, porque no se leyeron todos los vehículos',
    capped: (count) => `Solo se leyeron las primeras ${n(count)} filas`,
    cappedHint: 'Para verlo todo, elija un período más corto o menos vehículos',
    tooLong: (days) => `El período supera ${days} días`,
    tooLongFleet: 'Elija un período más corto, o vehículos: entonces se leen hasta 366 días',
    tooLongNamed: 'Elija un período más corto',
    showMore: 'Mostrar más filas',
    shown: (shown, all) => `${n(shown)} de ${n(all)} filas mostradas`,
    all: 'Todos',
    notes: {
      summary:
        'Un viaje o una parada pertenece al período en que empieza, y cuenta entero. El combustible es el nivel al inicio del primer viaje y al final del último: lo repostado entre medias no se ve, y sin el tamaño del depósito no hay litros. Las columnas del bus son lo que cuenta el propio vehículo (J1939): con unos 1 km, 1 L y 0,1 h de precisión',
      trips:
        'Un viaje pertenece al período en que empieza. El ralentí es el contacto puesto sin moverse, en el camino. Las columnas del bus son lo que cuenta el propio vehículo (J1939): con unos 1 km, 1 L y 0,1 h de precisión',
      stops:
        'Una parada pertenece al período en que empieza. El ralentí es el contacto puesto mientras el vehículo estaba parado',
      alarms: 'Según la hora en que el servicio las abrió. Las alarmas cerradas se guardan 90 días',
      decisions: 'Cortes que pidieron una segunda persona, según la hora de la petición',
      events: 'Según la hora del vehículo. El retraso es el tiempo tras el que el servicio guardó el evento',
    },
    columns: reportColumns,
    decisions,
    open: 'continúa',
    order: 'Orden',
    upwards: (column) => `${column}, ascendente`,
    downwards: (column) => `${column}, descendente`,
    plot: {
      summary:
        'Distancia y tiempo de conducción de los vehículos, en el orden de la tabla; la tabla contiene los valores',
      trips: 'Distancia y tiempo de conducción de cada día; la tabla contiene los valores',
      stops: 'Tiempo parado y ralentí de cada día; la tabla contiene los valores',
      alarms: 'Alarmas de cada día; la tabla las contiene',
      decisions: 'Peticiones de cada día; la tabla las contiene',
      events: 'Eventos de cada día; la tabla los contiene',
    },
    perDay: 'Filas de un día',
    save: 'Guardar como archivo',
    saveTable: 'CSV, esta tabla',
    saveTracks: 'Registros de los vehículos, un archivo por cada uno',
    formats: { gpx: 'GPX, el camino', csv: 'CSV, cada registro', geojson: 'GeoJSON, cada registro' },
    saveMost: (count) => `Elija hasta ${count} vehículos para guardar sus registros`,
    saving: (vehicle, file, files) => `Guardando ${vehicle}, archivo ${n(file)} de ${n(files)}`,
    received: (mebibytes) => `${mebibytes} MiB recibidos`,
    saved: (files) => many(files, 'archivo guardado', 'archivos guardados'),
    cancelled: 'El guardado se canceló',
    notSaved: (vehicle) => `${vehicle} no se guardó`,
    tooLarge: (mebibytes) => `El archivo supera ${n(mebibytes)} MiB. Elija un período más corto`,
  },
};

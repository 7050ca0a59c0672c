// The yardstick of the HTTP bench: fastify with nothing of ours, which gives bytes that it was handed. One line of JSON on
// standard input: `{ "path": "file with the bytes" }`; it prints its port and ends when the input does. Who asks with an ETag gets 304.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fastify } from 'fastify';

const lines = createInterface({ input: process.stdin });
lines.on('close', () => process.exit(0));
lines.once('line', (line) => {
  const files = JSON.parse(line) as Record<string, string>;
  const app = fastify({ logger: false });
  for (const [path, file] of Object.entries(files)) {
    const bytes = readFileSync(file);
    app.route({
      method: ['GET', 'POST'],
      url: path,
      handler: async (request, reply) =>
        request.headers['if-none-match'] === undefined
          ? reply.type('application/json; charset=utf-8').send(bytes)
          : reply.code(304).send(),
    });
  }
  void app.listen({ host: '127.0.0.1', port: 0 }).then((address) => console.log(new URL(address).port));
});

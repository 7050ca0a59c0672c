// The documentation page at /docs: Swagger UI on our own OpenAPI document. The page must need nothing from another host: no fonts, no
// validator, no scripts. Its files are those that `@fastify/swagger-ui` ships, as Swagger UI's own package reports each installation to a
// third party; they are read when they are asked for.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { createFixedText } from './fastify-compress.ts';

// Swagger UI styles its elements in place; scripts come from files of this origin only.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const [html, css, js, svg] = [
  'text/html; charset=utf-8',
  'text/css; charset=utf-8',
  'text/javascript; charset=utf-8',
  'image/svg+xml',
];

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Fleetward</title>
    <link rel="icon" href="static/favicon.svg" type="image/svg+xml" sizes="any">
    <link rel="stylesheet" href="static/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="static/swagger-ui-bundle.js"></script>
    <script src="static/swagger-initializer.js"></script>
  </body>
</html>
`;

const initializer = `SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'list',
  persistAuthorization: false,
  validatorUrl: null,
});
`;

const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40" width="40" height="40"><text x="20" y="29" text-anchor="middle" font-family="sans-serif" font-size="34" font-weight="600" fill="#1b7a4b">F</text></svg>`;

const { resolve } = createRequire(import.meta.url);

const shipped = (file: string) => (): Promise<string> =>
  readFile(resolve(`@fastify/swagger-ui/static/${file}`), 'utf8');

const files: readonly (readonly [path: string, type: string, read: () => string | Promise<string>])[] = [
  ['', html, () => page],
  ['static/favicon.svg', svg, () => favicon],
  ['static/swagger-initializer.js', js, () => initializer],
  ['static/swagger-ui-bundle.js', js, shipped('swagger-ui-bundle.js')],
  ['static/swagger-ui.css', css, shipped('swagger-ui.css')],
];

/** Serves /docs, a page that shows /openapi.json. */
export function addDocs(app: FastifyInstance): void {
  for (const [path, type, read] of files) {
    const send = createFixedText(read);
    app.get(`/docs/${path}`, (request, reply) => {
      void reply.type(type).header('content-security-policy', contentSecurityPolicy);
      return send({ request, reply });
    });
  }
  app.get('/docs', (_request, reply) => reply.redirect('/docs/', 308));
}

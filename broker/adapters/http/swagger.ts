// The documentation page at /docs: the bundled Swagger UI on our own OpenAPI document. The page must need nothing from
// another host: no fonts, no validator, no scripts.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';

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

// Text as a picture: the framework's own logo would say that the page is about the framework.
const svg = (width: number, attributes: string, text: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 40" width="${width}" height="40"><text y="29" font-family="sans-serif" font-weight="600" ${attributes}>${text}</text></svg>`;
const logo = { type: 'image/svg+xml', content: svg(160, 'x="0" font-size="28" fill="#fff"', 'Fleetward') };
const theme = {
  title: 'Fleetward',
  // The field for the address of another document: the page may load none.
  css: [
    {
      filename: 'fleetward.css',
      content: '.swagger-ui .topbar .download-url-wrapper { visibility: hidden }',
    },
  ],
  favicon: [
    {
      filename: 'favicon.svg',
      rel: 'icon',
      sizes: 'any',
      type: 'image/svg+xml',
      content: svg(40, 'x="20" text-anchor="middle" font-size="34" fill="#1b7a4b"', 'F'),
    },
  ],
};

/** Serves /docs with `document`, an OpenAPI 3.1 document. */
export async function registerDocs(
  app: FastifyInstance,
  document: Readonly<Record<string, unknown>>,
): Promise<void> {
  await app.register(swagger, {
    mode: 'static',
    // The plugin types documents by its own copy of the OpenAPI types.
    specification: { document: document as never },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    logo,
    theme,
    uiConfig: { validatorUrl: null, docExpansion: 'list', deepLinking: true, persistAuthorization: false },
  });
}

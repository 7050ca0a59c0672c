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
    theme: { title: 'Fleet Asset Protection Service' },
    uiConfig: { validatorUrl: null, docExpansion: 'list', deepLinking: true, persistAuthorization: false },
  });
}

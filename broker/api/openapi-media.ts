// Streamed answers in the OpenAPI document: text stays text, but a JSON media type is described by its schema, so that
// tools can check it.
import type { StreamType } from './base/operation.ts';

type Json = Readonly<Record<string, unknown>>;

/** RFC 7946 section 3.3. */
const featureCollection: Json = {
  type: 'object',
  description: 'A feature collection (RFC 7946)',
  required: ['type', 'features'],
  properties: {
    type: { type: 'string', const: 'FeatureCollection' },
    features: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'geometry', 'properties'],
        properties: {
          type: { type: 'string', const: 'Feature' },
          geometry: { type: ['object', 'null'], description: 'Positions are longitude, latitude' },
          properties: { type: ['object', 'null'] },
        },
      },
    },
  },
};

interface Text {
  readonly schema: unknown;
  readonly example: unknown;
}

/** Schema and example of an answer of this type, from those of the operation, which speak of text. */
export function describeStream(type: StreamType, { schema, example }: Text): Json {
  if (type !== 'application/geo+json') return { schema, example };
  return { schema: featureCollection, example: JSON.parse(String(example)) as unknown };
}

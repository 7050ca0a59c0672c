// The shapes of routes: the answer, and the members of routeupdate. Points are numbered members, as with geozones, without
// a fixed count. Schemas only.
import { type Static, Type } from 'typebox';
import { namePatternSource } from '../../../src/core/ids.ts';
import { lineText } from '../../api/base/input-members.ts';
import { envelope } from '../../api/base/shapes.ts';
import { latitudePattern, longitudePattern } from '../../api/geozones/geozone-shapes.ts';

/** Most points of a route. */
export const pointsMost = 100;
/** Most devices of a route in one call. */
export const devicesMost = 200;
/** Metres to either side of a route without a given radius. */
export const defaultRadiusM = 1000;
const pointName = '([1-9][0-9]?|100)';

export const route = Type.Object(
  {
    routeID: Type.String({ description: 'Identifier of the route' }),
    routeDisplayName: Type.String({ description: 'Short name; may be empty' }),
    routeRadius: Type.Integer({
      description: 'Metres to either side of the line that still count as on the route',
    }),
    deviceIDs: Type.Array(Type.String(), {
      description: 'Devices it is planned for, those that the caller may see, in the order of ids',
    }),
    hasUpdateRoutePrivileges: Type.Boolean({ description: 'Whether the caller may change routes' }),
    ...envelope,
  },
  {
    patternProperties: {
      [`^routePoint${pointName}$`]: Type.String({
        description:
          '`routePoint1`, `routePoint2` ... along the way, as many as there are: `<lat>,<lng>`, five decimals',
      }),
    },
  },
);
export type RouteView = Static<typeof route>;

const members = {
  routeID: Type.String({
    pattern: namePatternSource,
    description:
      'Name of the route: 1 to 64 characters of any script, no control characters, no space at either end',
  }),
  routeDisplayName: Type.Optional(lineText(128, 'Short name')),
  routeRadius: Type.Optional(
    Type.Integer({ minimum: 5, maximum: 30_000, description: 'Metres to either side; 1000 when not given' }),
  ),
  deviceIDs: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: devicesMost,
      description: 'The devices it is planned for',
    }),
  ),
} as const;
export const routeBody = Type.Object(members, {
  additionalProperties: false,
  patternProperties: {
    [`^routePoint${pointName}lat$`]: Type.String({
      pattern: `^${latitudePattern}$`,
      description: '`routePoint<n>lat`, n from 1: decimal degrees',
    }),
    [`^routePoint${pointName}lng$`]: Type.String({
      pattern: `^${longitudePattern}$`,
      description: '`routePoint<n>lng`, n from 1: decimal degrees',
    }),
  },
});
export type RouteBody = Static<typeof routeBody>;

export const routeKeyBody = Type.Object({ routeID: members.routeID }, { additionalProperties: false });

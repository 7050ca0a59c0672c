// The maps that the operator of the service offers: files in its folder, and a style of another host. They are the same for every account.
import { Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { mapNamePattern } from '../../ports/map-folder.ts';
import { findAccount } from '../../store/accounts/accounts.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';

/** A choice among the maps of the service. */
export const baseMap = Type.String({
  pattern: `^(world|style|file:${mapNamePattern.source.slice(1, -1)})$`,
  description: '`world`, `style`, or `file:` and the name of a map file',
});

export const getMaps = operation({
  id: 'getMaps',
  method: 'GET',
  path: '/map/list/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Geozones',
  summary: 'Maps of the service',
  description: `Our addition. The map files (PMTiles) in the folder of the setting \`maps\`, by name, at most 100. Read one at \`/maps/{name}\` with the same token in
\`authorization\`, part by part with \`Range\` (RFC 9110: one range, 206 or 416, \`If-Range\`, a strong \`ETag\`). Empty while there is no such folder.
\`style\` is the map of another host that the setting \`mapStyle\` names; browsers read it there, without the token. Null unless it is set.
\`chosen\` is what an administrator of the account has chosen for all of its users (\`updateAccount\`, member \`baseMap\`); it may name a file that is gone.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    maps: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the file' }),
        size: Type.Integer({ minimum: 0, description: 'Bytes' }),
        changed: Type.Integer({ minimum: 0, description: 'When it was last changed (epoch seconds)' }),
      }),
      { description: 'By name' },
    ),
    style: Type.Union(
      [
        Type.Object({
          url: Type.String({ description: 'A MapLibre style' }),
          origins: Type.Array(Type.String(), {
            description: 'The only origins that the console reads of it, that of the style first',
          }),
        }),
        Type.Null(),
      ],
      { description: 'A map of another host; null without one' },
    ),
    chosen: Type.String({
      description: '`world`, `style`, or `file:` and the name of a map file; empty: nothing was chosen',
    }),
  }),
  errors: [],
  effects: false,
  examples: {
    result: {
      maps: [{ name: 'toronto.pmtiles', size: 48_211_337, changed: 1763683200 }],
      style: { url: 'https://tiles.example.com/style.json', origins: ['https://tiles.example.com'] },
      chosen: 'file:toronto.pmtiles',
    },
  },
  async run({ caller }, { db, maps, mapStyle }) {
    const files = await maps.list();
    const view = files.map(({ name, size, changedMs }) => ({
      name,
      size,
      changed: epochSeconds(changedMs),
    }));
    const style = mapStyle === null ? null : { url: mapStyle.url, origins: [...mapStyle.origins] };
    const account = await findAccount(db, caller.accountID);
    return { ...ok, maps: view, style, chosen: account?.baseMap ?? '' };
  },
});

export const mapOperations = [getMaps] as const;

// The table of status codes: for apps that show names, sentences and filters without a copy of their own.
import { type Static, Type } from 'typebox';
import { type StatusEntry, statusClasses, statusList } from '../../core/events/status-list.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';

const statusCode = Type.Object({
  statusCode: Type.Integer({ minimum: 1, maximum: 65_535, description: 'The number, as events have it' }),
  statusDescription: Type.String({ description: 'The name, as events have it' }),
  meaning: Type.String({ description: 'One sentence for people, in English' }),
  class: Type.Enum([...statusClasses], {
    description:
      'How a vehicle stores and sends it: `critical` at once and dropped last, `alarm`, `change`, `routine` (may wait for a batch, thinned first)',
  }),
  category: Type.Union([Type.Enum(['fuel', 'activations', 'cargo', 'base']), Type.Null()], {
    description: 'Category of the activation summary; null for what is no alert',
  }),
  isAlert: Type.Boolean({
    description:
      'True: it asks for attention, stands in the inbox and counts as `"alerts"` in rules; a crossing of a geozone only where the geozone asks for it',
  }),
});

const view = ({ code, name, meaning, statusClass, category }: StatusEntry): Static<typeof statusCode> => ({
  statusCode: code,
  statusDescription: name,
  meaning,
  class: statusClass,
  category,
  isAlert: category !== null,
});

const table = statusList
  .map(({ code, name, statusClass, category, meaning }) =>
    [code, name, statusClass, category ?? '', meaning].join(' | '),
  )
  .map((row) => `| ${row} |`)
  .join('\n');

const answer = { ...ok, statusCodes: statusList.map(view) };

const getStatusCodes = operation({
  id: 'getStatusCodes',
  method: 'GET',
  path: '/statuscodes',
  forms: ['versioned', 'plain'],
  access: 'public',
  tag: 'Events',
  summary: 'Status codes of events',
  isConditional: true,
  cacheS: 3600,
  description: `Our addition. Every status code that this service writes or counts as an alert, ascending. It needs no token, is the same for
every account and changes with a release only: keep it for an hour, then ask with its \`ETag\`. A code that is not in the list is stored and
shown as \`Status_0xNNNN\`.

| Code | Name | Class | Alert | Meaning |
| --- | --- | --- | --- | --- |
${table}`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, statusCodes: Type.Array(statusCode, { description: 'Ascending' }) }),
  errors: [],
  effects: false,
  examples: { result: { statusCodes: statusList.slice(0, 1).map(view) } },
  run: async () => answer,
});

export const statusCodeOperations = [getStatusCodes] as const;

// Preferences of the calling user: a JSON object that apps keep here and that the service does not read.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { findPreferences, type Preferences, savePreferences } from '../../store/accounts/preferences.ts';
import { namesTag, tagOfAnswer } from '../base/answer-tag.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';

/** Most bytes of the preferences as JSON in UTF-8. */
const bytesMost = 8 * 1024;

const answer = Type.Object({
  preferences: Type.Record(Type.String(), Type.Unknown(), { description: 'As saved; empty before' }),
  revision: Type.Integer({ minimum: 0, description: 'Grows with every change; 0 = nothing was saved yet' }),
  ...envelope,
});

const view = ({ text, revision }: Preferences): Static<typeof answer> => ({
  preferences: JSON.parse(text) as Record<string, unknown>,
  revision,
  ...ok,
});

const example: Static<typeof answer> = {
  preferences: { units: 'metric', map: { style: 'dark', clusters: true } },
  revision: 3,
  ...ok,
};

const get = operation({
  id: 'getPreferences',
  method: 'GET',
  path: '/user/preferences/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Users',
  summary: 'Preferences of the calling user',
  description: `An addition to the interface: the JSON object that an app saved for the calling user with \`savePreferences\`. Each user has
one, the same on every app and device; no other user sees it, not even an administrator.`,
  params: Type.Object({}),
  body: null,
  result: answer,
  errors: [],
  effects: false,
  isConditional: true,
  examples: { result: example },
  run: async ({ caller }, { db }) => view(await findPreferences(db, caller)),
});

const changedMeanwhile = (): AppError =>
  new AppError('conflict', 'The preferences were changed by another request; nothing was saved', {
    hint: 'Read them with getPreferences, apply your change to what it gives, and save again.',
  });

const save = operation({
  id: 'savePreferences',
  method: 'POST',
  path: '/user/savepreferences/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'write', ofDevices: false },
  tag: 'Users',
  summary: 'Save preferences of the calling user',
  description: `An addition to the interface: replaces the whole object, at most ${bytesMost} bytes as JSON in UTF-8 (422 \`invalid_content\`
beyond that). The service keeps it as it is and reads nothing in it: put no secrets there. With \`If-Match\` (the \`ETag\` that
\`getPreferences\` answered with) or \`revision\` it is saved only if nothing was saved since, otherwise 422 \`conflict\`; without
either the last one wins.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      preferences: Type.Record(Type.String({ maxLength: 256 }), Type.Unknown(), {
        description: 'Any JSON object',
      }),
      revision: Type.Optional(
        Type.Integer({ minimum: 0, description: 'The one that the change is based on' }),
      ),
    },
    { additionalProperties: false },
  ),
  result: answer,
  errors: ['conflict'],
  effects: true,
  takesIfMatch: true,
  examples: { body: { preferences: example.preferences }, result: example },
  async run({ body, caller, ifMatch }, { db }) {
    const text = JSON.stringify(body.preferences);
    const bytes = Buffer.byteLength(text);
    if (bytes > bytesMost) {
      throw new AppError(
        'invalid_content',
        `/preferences has ${bytes} bytes as JSON, more than ${bytesMost}`,
        {
          details: [
            { pointer: '/preferences', message: `must not have more than ${bytesMost} bytes as JSON` },
          ],
        },
      );
    }
    const known = await findPreferences(db, caller);
    if (ifMatch !== null && !namesTag(ifMatch, tagOfAnswer(view(known)))) throw changedMeanwhile();
    if (body.revision !== undefined && body.revision !== known.revision) throw changedMeanwhile();
    const isExpecting = ifMatch !== null || body.revision !== undefined;
    const [saved] = await db.write([
      savePreferences(caller, { text, expected: isExpecting ? known.revision : null }),
    ]);
    if (saved?.changes !== 1) throw changedMeanwhile();
    return view(await findPreferences(db, caller));
  },
});

export const preferenceOperations = [get, save] as const;

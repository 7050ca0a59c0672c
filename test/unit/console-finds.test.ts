// What the palette finds, and for how long an alarm can be shelved.
import { describe, expect, it } from 'vitest';
import { lengthsFrom } from '../../broker/console/state/alarms/shelving.ts';
import { bestOf, isSameName, typedOrder } from '../../broker/console/state/shell/palette.ts';
import { allWords } from '../support/http/console-words.ts';

interface Finds {
  readonly palette: { readonly verbs: Readonly<Record<'cut' | 'restore' | 'unlock' | 'lock', string>> };
}

const cut = { relay: 'enginecutoff', isSafe: false };
const restore = { relay: 'enginecutoff', isSafe: true };
const unlock = { relay: 'cargoaccess', isSafe: false };
const lock = { relay: 'cargoaccess', isSafe: true };

describe('the palette', () => {
  it.each([
    ['en', 'cut van-03', { ...cut, name: 'van-03' }],
    ['en', '  Cut  off  Van 03 ', { ...cut, name: 'van 03' }],
    ['en', 'restore van-03', { ...restore, name: 'van-03' }],
    ['en', 'lock van-03', { ...lock, name: 'van-03' }],
    ['en', 'unlock van-03', { ...unlock, name: 'van-03' }],
    ['en', 'cut', null],
    ['en', 'cut ', null],
    ['en', 'cutter 3', null],
    ['en', 'van-03', null],
    ['de', 'van-03 sperren', { ...cut, name: 'van-03' }],
    ['de', 'cut van-03', null],
    ['fr', 'retablir camion', { ...restore, name: 'camion' }],
    ['es', 'bloquear van-03', { ...lock, name: 'van-03' }],
    ['es', 'desbloquear van-03', { ...unlock, name: 'van-03' }],
    ['ar', 'اقطع van-03', { ...cut, name: 'van-03' }],
    ['ar', 'افتح van-03', { ...unlock, name: 'van-03' }],
  ] as const)('in %s reads "%s" as the order that it names', async (language, text, order) => {
    const { find } = await allWords(language);
    const { palette } = find as Finds;
    expect(typedOrder(text, palette.verbs)).toEqual(order);
  });

  it('puts the best fit first, and keeps the order of those that fit alike', () => {
    const names = ['old van-0', 'Van-02', 'van-0', 'vän-01', 'truck', 'caravan-0'];
    const found = (text: string, most = 10) => bestOf(names, text, (name) => [name], most);
    expect(found('van-0')).toEqual(['van-0', 'Van-02', 'vän-01', 'old van-0', 'caravan-0']);
    expect(found('van-0', 2)).toEqual(['van-0', 'Van-02']);
    expect(found('', 2)).toEqual(['old van-0', 'Van-02']);
    expect(found('none')).toEqual([]);
    expect([isSameName('Van-02', 'van-02 '), isSameName('van-02', 'van-0')]).toEqual([true, false]);
  });
});

it.each([
  [null, ['15', '60', '240', '480', '1440']],
  ['240', ['240', '15', '60', '480', '1440']],
  ['7', ['15', '60', '240', '480', '1440']],
])('offers the length of shelving that was chosen last (%s) first', (last, offered) => {
  expect(lengthsFrom(last)).toEqual(offered);
});

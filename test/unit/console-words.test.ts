// The catalogues of the console: Arabic counts by its six forms, numbers are those of the language, and no text is left in English.
import { describe, expect, it } from 'vitest';
import { ar } from '../../broker/console/words/ar.ts';
import { formatNumber } from '../../broker/console/words/base/format.ts';
import { de } from '../../broker/console/words/de.ts';
import { en, type Words } from '../../broker/console/words/en.ts';
import { es } from '../../broker/console/words/es.ts';
import { fr } from '../../broker/console/words/fr.ts';

const others: readonly (readonly [string, Words])[] = [
  ['ar', ar],
  ['de', de],
  ['es', es],
  ['fr', fr],
];

/** Every text of a catalogue by its path; a text with gaps is filled with what cannot be taken for a word. */
function textsOf(value: unknown, path = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, (value as (...given: unknown[]) => string)(7, 7)]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => textsOf(one, `${path}.${name}`));
}

const english = new Map(textsOf(en));

describe('a catalogue of the console', () => {
  it.each(others)('in %s has every text and every status code of the English one', (_name, words) => {
    expect(
      textsOf(words)
        .map(([path]) => path)
        .toSorted(),
    ).toEqual([...english.keys()].toSorted());
    for (const [path, text] of textsOf(words)) expect([path, text.trim()]).not.toEqual([path, '']);
  });

  it.each(others)('in %s repeats no English sentence', (_name, words) => {
    const same = textsOf(words).filter(
      ([path, text]) =>
        english.get(path) === text &&
        /\p{L}{2}/u.test(text) &&
        text.split(' ').length > 2 &&
        !text.includes('GeoNames'),
    );
    expect(same).toEqual([]);
  });

  it('in Arabic has Arabic letters in every text but names, units and signs', () => {
    const without = textsOf(ar).filter(([, text]) => !/[\u0600-\u06ff]/u.test(text));
    expect(without.map(([path]) => path)).toEqual([
      '.locale',
      '.deliveries.channels.webhook',
      '.replay.times',
      '.health.clocks.gnss',
      '.health.mebibytes',
      '.settings.units.degrees',
      '.cut.rules.witness',
      '.units.percent',
      '.common.brand',
      '.live.credit',
      '.vehicle.witness.gnss',
      '.events.later',
      '.alarms.details',
    ]);
  });

  it('in Arabic counts one, two, few and many', () => {
    const counted = [0, 1, 2, 3, 10, 11, 100, 103].map((count) => ar.live.cluster(count, 0));
    expect(counted).toEqual([
      '0 مركبة',
      'مركبة واحدة',
      'مركبتان',
      '3 مركبات',
      '10 مركبات',
      '11 مركبة',
      '100 مركبة',
      '103 مركبات',
    ]);
  });

  it('in Arabic keeps names of another direction together', () => {
    expect(ar.vehicle.notFound('van-03')).toContain('\u2068van-03\u2069');
  });

  it('writes numbers as its language does, in Arabic with the digits that identifiers have', () => {
    expect(formatNumber(12_345.67, en.locale, 1)).toBe('12,345.7');
    expect(formatNumber(12_345.67, de.locale, 1)).toBe('12.345,7');
    expect(formatNumber(12_345.67, ar.locale, 1)).toBe('12,345.7');
    expect(de.live.shown(1200, 12_000)).toBe('1.200 von 12.000');
  });
});

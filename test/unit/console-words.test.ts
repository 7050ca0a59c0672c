// The catalogues of the console: Arabic counts by its six forms, numbers are those of the language, and no text is left in English.
import { describe, expect, it } from 'vitest';
import { mapWords } from '../../build/words/map.ts';
import { formatNumber } from '../../src/core/words/format.ts';
import { allWords, sevens } from '../support/http/console-words.ts';

const others = ['ar', 'de', 'es', 'fr'] as const;

/** Every text of a catalogue by its path; a text with gaps is filled with what cannot be taken for a word. */
function textsOf(value: unknown, path = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, (value as (a: unknown) => string)(sevens)]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => textsOf(one, `${path}.${name}`));
}

const english = new Map(textsOf(await allWords('en')));

describe('a catalogue of the console', () => {
  it.each(others)('in %s has every text and every status code of the English one', async (language) => {
    const words = await allWords(language);
    expect(
      textsOf(words)
        .map(([path]) => path)
        .toSorted(),
    ).toEqual([...english.keys()].toSorted());
    for (const [path, text] of textsOf(words)) expect([path, text.trim()]).not.toEqual([path, '']);
  });

  it.each(others)('in %s repeats no English sentence', async (language) => {
    const same = textsOf(await allWords(language)).filter(
      ([path, text]) =>
        english.get(path) === text &&
        /\p{L}{2}/u.test(text) &&
        text.split(' ').length > 2 &&
        !text.includes('GeoNames'),
    );
    expect(same).toEqual([]);
  });

  it('in Arabic has Arabic letters in every text but names, units and signs', async () => {
    const without = textsOf(await allWords('ar')).filter(([, text]) => !/[\u0600-\u06ff]/u.test(text));
    expect(without.map(([path]) => path).toSorted()).toEqual([
      '.alarms.details',
      '.auditFields.item',
      '.common.brand',
      '.deliveries.channels.webhook',
      '.events.later',
      '.health.clocks.gnss',
      '.health.mebibytes',
      '.locale',
      '.order.rules.witness',
      '.replay.times',
      '.settings.units.degrees',
      '.units.percent',
      '.vehicle.witness.gnss',
    ]);
  });

  it('in Arabic counts one, two, few and many', async () => {
    const { live } = await mapWords.ar();
    const counted = [0, 1, 2, 3, 10, 11, 100, 103].map((count) => live.cluster({ count, alarms: 0 }));
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

  it('in Arabic keeps names of another direction together', async () => {
    const { vehicle } = (await import('../../build/words/main/ar.ts')).mainTexts;
    expect(vehicle.notFound({ id: 'van-03' })).toContain('\u2068van-03\u2069');
  });

  it('writes numbers as its language does, in Arabic with the digits that identifiers have', async () => {
    const { locale } = (await import('../../build/words/main/ar.ts')).mainTexts;
    expect(formatNumber(12_345.67, 'en', 1)).toBe('12,345.7');
    expect(formatNumber(12_345.67, 'de', 1)).toBe('12.345,7');
    expect(formatNumber(12_345.67, locale, 1)).toBe('12,345.7');
    expect((await mapWords.de()).live.shown({ shown: 1200, all: 12_000 })).toBe('1.200 von 12.000');
  });
});

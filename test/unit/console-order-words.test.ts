// What is said of an order of one relay never speaks of the other: a person who unlocks a cargo must not read of an engine, nor the other way
// round. Texts that both relays share speak of neither.
import { describe, expect, it } from 'vitest';
import { allWords, sevens } from '../support/http/console-words.ts';

const languages = ['en', 'fr', 'de', 'es', 'ar'] as const;
type Language = (typeof languages)[number];

const engineWords: Readonly<Record<Language, RegExp>> = {
  en: /\bcuts?\b|\bcutting\b|engine|restor/i,
  fr: /coup(?!e de)|moteur|rétabli/i,
  de: /sperr|motor|freigab|freigeb/i,
  es: /\bcort|motor|restable/i,
  // "Cut" and "engine", not the "cargo is shut again" of another root.
  ar: /قطع|محرك|إعادة/,
};
const cargoWords: Readonly<Record<Language, RegExp>> = {
  en: /cargo|lock/i,
  fr: /cargaison|verrou/i,
  de: /laderaum|riegel/i,
  es: /\bcarga\b|bloque|cierre/i,
  ar: /حمولة|قفل|إقفال/,
};

function textsOf(value: unknown, path: string): readonly (readonly [path: string, text: string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, (value as (a: unknown) => string)(sevens)]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => textsOf(one, `${path}.${name}`));
}

type ByRelay = Readonly<Record<'enginecutoff' | 'cargoaccess', unknown>>;

/** Facts of the vehicle that the interlock reads, whatever is ordered: the key is off, the engine turns. */
const facts: ReadonlySet<string> = new Set([
  'order.rules.engine_at_rest',
  'order.rules.ignition_suspended',
  'order.rules.ignition_unsteady',
  'order.rules.ignition_contradicted',
  'order.rules.ignition_off_s',
  'order.rules.ignition_off_short',
  'order.rows.ignition',
]);

describe.each(languages)('the words of orders in %s', (language) => {
  it('of a cargo speak of no engine, and those of an engine of no cargo', async () => {
    const words = await allWords(language);
    const { safe, ends } = words['toasts'] as { readonly safe: ByRelay; readonly ends: ByRelay };
    for (const [path, byRelay] of Object.entries({
      relays: words['relays'] as ByRelay,
      orders: words['orders'] as ByRelay,
      safe,
      ends,
    })) {
      const ofCargo = textsOf(byRelay.cargoaccess, path);
      const ofEngine = textsOf(byRelay.enginecutoff, path);
      expect(ofCargo.length).toBe(
        ofEngine.length - (path === 'orders' ? 1 : 0), // A cut has one more reason.
      );
      expect(ofCargo.filter(([, text]) => engineWords[language].test(text))).toEqual([]);
      expect(ofEngine.filter(([, text]) => cargoWords[language].test(text))).toEqual([]);
    }
  });

  it('that both share speak of neither', async () => {
    const shared = textsOf((await allWords(language))['order'], 'order').filter(([path]) => !facts.has(path));
    expect(shared.length).toBeGreaterThan(80);
    expect(shared.filter(([, text]) => engineWords[language].test(text))).toEqual([]);
    expect(shared.filter(([, text]) => cargoWords[language].test(text))).toEqual([]);
  });
});

// The id of a new object, made from its name. Pure.
import { isID } from '../../state/device-view.ts';

/** Letters that no decomposition makes of the alphabet of ids. */
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
};

/** Of the 64 characters of an id, so that a number can follow. */
const most = 58;

/** @returns '' where the name has neither a letter of the alphabet nor a digit. @param taken ids in use: the number that follows is the first that is free. */
export function idFrom(name: string, taken: readonly string[]): string {
  const made = name
    .toLowerCase()
    .replaceAll(/[ßæœøłđı]/g, (letter) => letters[letter] ?? '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .slice(0, most)
    .replaceAll(/^-+|-+$/g, '');
  if (!isID(made)) return '';
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? made : `${made}-${number}`;
    if (!taken.includes(id)) return id;
  }
}

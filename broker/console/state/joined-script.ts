// Scripts that are written from right to left, most of them joined (Arabic, Hebrew, Syriac). Pure.
const script = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** True when a name must be drawn as a whole, because its letters cannot be placed one by one. */
export const isJoined = (name: string): boolean => script.test(name);

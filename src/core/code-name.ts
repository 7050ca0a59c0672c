// The name of a kind of event in one language. Pure.

/** Of one without a name its code in hexadecimal. */
export const codeName = (statusCode: number, names: Readonly<Record<number, string>>): string =>
  names[statusCode] ?? `0x${statusCode.toString(16).toUpperCase().padStart(4, '0')}`;

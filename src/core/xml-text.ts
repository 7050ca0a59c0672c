// Text for XML 1.0: markup escaped, and characters removed that a parser would refuse. Pure. The result is the text
// of an element or of a quoted attribute, and never markup.

const markup: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // As they stand, a parser would make spaces or line feeds of them (XML 1.0, 2.11 and 3.3.3).
  '\r': '&#13;',
};

/**
 * Everything that is no `Char` of XML 1.0 (2.2): most control characters, halves of surrogate pairs, U+FFFE and
 * U+FFFF.
 */
const noCharacter = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Text of an element; characters that XML cannot hold become U+FFFD, so that it can be seen that something was there. */
export function escapeXml(text: string): string {
  return text.replace(noCharacter, '\ufffd').replace(/[&<>"'\r]/g, (one) => markup[one] ?? one);
}

/** The value of a quoted attribute: line breaks and tabs stay what they are. */
export function escapeXmlAttribute(text: string): string {
  return escapeXml(text).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}

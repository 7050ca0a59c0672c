// Text into HTML: the tag escapes every `${}` that it did not make itself, so no text of a scenario, server or file can become
// markup. There is no bypass.

/** Markup that the tag made. */
export interface Html {
  readonly markup: string;
}

type Part = Html | readonly Html[] | string | number | null;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters and marks of text direction are replaced. */
const steering = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** For text and for quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll(steering, (sign) => (sign === '\n' || sign === '\t' ? sign : '\ufffd'))
    .replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? '');
}

const isList = (part: Part): part is readonly Html[] => Array.isArray(part);

function write(part: Part): string {
  if (part === null) return '';
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  return isList(part) ? part.map(({ markup }) => markup).join('') : part.markup;
}

/** The tag. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const markup = texts.map((text, at) => (at === 0 ? text : write(parts[at - 1] ?? null) + text)).join('');
  return { markup };
}

export const nothing: Html = { markup: '' };

const wordsMost = 240;

/** A text from outside, cut to a bounded length. */
export const short = (text: string): string =>
  text.length > wordsMost ? `${text.slice(0, wordsMost)} …` : text;

/** A short label for good, bad, or not judged. */
export const pill = (outcome: 'good' | 'bad' | 'open', words: string): Html =>
  html`<span class="pill ${outcome}">${words}</span>`;

/** A part of a page with its heading, which the list of contents names. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: Html;
  /** It warns. */
  readonly isWarning?: boolean;
}

/** Data for a script of the page, which no text in it can end. */
export function jsonIsland(id: string, value: unknown): Html {
  const text = JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
  return { markup: `<script type="application/json" id="${escapeHtml(id)}">${text}</script>` };
}

/** A table with a caption; the first column names its row. */
export function table(of: {
  readonly caption: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly (string | Html)[])[];
  /** Columns from this on are numbers; 1 unless given. */
  readonly numbersFrom?: number;
}): Html {
  const { caption, heads, rows, numbersFrom = 1 } = of;
  const className = (at: number): Html => (at >= numbersFrom ? html` class="number"` : nothing);
  return html`<div class="table" role="region" aria-label="${caption}" tabindex="0"><table><caption>${caption}</caption><thead><tr>${heads.map(
    (head, at) => html`<th scope="col"${className(at)}>${head}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (cells) =>
      html`<tr>${cells.map((cell, at) =>
        at === 0 ? html`<th scope="row">${cell}</th>` : html`<td${className(at)}>${cell}</td>`,
      )}</tr>`,
  )}</tbody></table></div>`;
}

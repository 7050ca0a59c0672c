// A whole report as one HTML file that asks nobody for anything: its policy forbids every request, and every script and style but its own.
import { createHash } from 'node:crypto';
import type { RunResult } from '../run/result.ts';
import { interventionsPart, rampPart } from './changes.ts';
import { type Html, html, nothing } from './html.ts';
import { routeMap } from './map.ts';
import { runPlots } from './plots.ts';
import { script } from './script.ts';
import {
  latencyPart,
  notesPart,
  settingPart,
  thresholdPart,
  tilesPart,
  truthPart,
  verdictPart,
} from './sections.ts';
import { style } from './style.ts';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Marks of styles are positions in per cent; they are written by this program only. */
const policy = [
  "default-src 'none'",
  `style-src-elem ${hashOf(style)}`,
  "style-src-attr 'unsafe-inline'",
  `script-src ${hashOf(script)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The frame of every report. */
export function page(of: {
  readonly title: string;
  readonly head: Html;
  readonly body: Html;
  readonly foot: string;
}): string {
  const { title, head, body, foot } = of;
  // Style and script are this program's own words: escaped they would be others.
  const styles: Html = { markup: `<style>${style}</style>` };
  const scripts: Html = { markup: `<script>${script}</script>` };
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"/><meta http-equiv="content-security-policy" content="${policy}"/><meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="color-scheme" content="light dark"/><meta name="referrer" content="no-referrer"/><meta name="generator" content="fleetward-simulator"/><link rel="icon" href="data:,"/><title>${title}</title>${styles}</head>
<body><header>${head}</header><main>${body}</main><footer><p>${foot}</p></footer>${scripts}</body></html>
`.markup;
}

function mapPart({ routes, kind, devices }: RunResult): Html {
  if (kind === 'tracker')
    return html`<section><h2>Map</h2><p>Light trackers have positions that are drawn from the seed, and no road: there is no map of them.</p></section>`;
  if (routes.length === 0) return html`<section><h2>Map</h2><p>No vehicle reported a position.</p></section>`;
  return html`<section><h2>Map</h2>${routeMap(routes, devices)}</section>`;
}

/** When a run began, as people read it. */
export const dayOf = (startedAt: string): string => `${startedAt.slice(0, 16).replace('T', ' ')} UTC`;

/** The report of one run. */
export function formatHtml(result: RunResult): string {
  const { scenario, title, startedAt, isPassed, setting } = result;
  const head = html`<h1>${scenario}</h1><p class="soft">${title} · ${dayOf(startedAt)}</p>`;
  const overTime = html`<section><h2>Over time</h2><p class="soft">All plots share one time axis. Shaded: faults, of the scenario or by hand. Dotted: from there on no further facts are made, and what waits is delivered.</p>${runPlots(result)}</section>`;
  const body = html`${verdictPart(result)}${tilesPart(result)}${notesPart(result)}${truthPart(result)}${thresholdPart(result)}${rampPart(result)}${interventionsPart(result)}${overTime}${latencyPart(result)}${mapPart(result)}${settingPart(result)}${nothing}`;
  return page({
    title: `${isPassed ? 'Passed' : 'Failed'}: ${scenario}`,
    head,
    body,
    foot: `fleetward-simulator ${setting.version}. This file is whole: it loads nothing and tells nobody anything.`,
  });
}

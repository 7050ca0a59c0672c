// A report as one self-contained HTML file: its content security policy forbids every request and every script and style but its own.
import { createHash } from 'node:crypto';
import { outcomeOf } from '../core/result/verdict.ts';
import type { RunResult } from '../run/measure/result.ts';
import { interventionsSection, rampSection } from './changes.ts';
import { type Html, html, nothing, type Section } from './html.ts';
import { routeMap } from './map.ts';
import { commandSection, errorSection, factSection, machineSection } from './outcomes.ts';
import { type PlotPlan, runPlots } from './plots.ts';
import { proofSection } from './proof.ts';
import {
  latencySection,
  notesSection,
  settingSection,
  thresholdSection,
  tilesSection,
  verdictSection,
} from './sections.ts';

/** Parts of every page: script and style, with uPlot and its licence, and the list of plots. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
  readonly plans: readonly PlotPlan[];
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const policyOf = (scripts: string, styles: string): string =>
  [
    "default-src 'none'",
    `style-src ${hashOf(styles)}`,
    `script-src ${hashOf(scripts)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

const contents = (sections: readonly Section[]): Html =>
  html`<nav aria-label="Contents"><ol>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ol></nav>`;

const sectionOf = ({ id, title, body, isWarning = false }: Section): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title"${isWarning ? html` class="notes"` : nothing}><h2 id="${id}-title">${title}</h2>${body}</section>`;

/** The frame of every report. */
export function page(
  { style, script }: PageParts,
  of: {
    readonly title: string;
    readonly head: Html;
    /** Above the sections. */
    readonly summary: Html;
    readonly sections: readonly (Section | null)[];
    readonly version: string;
  },
): string {
  const { title, head, summary, version } = of;
  const sections = of.sections.filter((section) => section !== null);
  // Style and script are constants of this program and of uPlot, and must not be escaped.
  const styleElement: Html = { markup: `<style>${style}</style>` };
  const scriptElement: Html = { markup: `<script>${script}</script>` };
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"/><meta http-equiv="content-security-policy" content="${policyOf(script, style)}"/><meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="color-scheme" content="light dark"/><meta name="referrer" content="no-referrer"/><meta name="generator" content="fleetward-simulator"/><link rel="icon" href="data:,"/><title>${title}</title>${styleElement}</head>
<body><header>${head}${contents(sections)}</header><main>${summary}${sections.map(sectionOf)}</main><footer><p>fleetward-simulator ${version}. Self-contained: it makes no network request. Plots drawn by uPlot (MIT licence).</p></footer>${scriptElement}</body></html>
`.markup;
}

function mapBody({ routes, kind, devices }: RunResult): Html {
  if (kind === 'tracker')
    return html`<p>Light trackers have positions that are drawn from the seed, and no road: there is no map of them.</p>`;
  return routes.length === 0 ? html`<p>No vehicle reported a position.</p>` : routeMap(routes, devices);
}

/** The start of a run as text. */
export const dayOf = (startedAt: string): string => `${startedAt.slice(0, 16).replace('T', ' ')} UTC`;

const titles = { passed: 'Passed', failed: 'Failed', incomplete: 'Incomplete' } as const;

/** The report of one run. */
export function formatHtml(result: RunResult, parts: PageParts): string {
  const { scenario, title, startedAt, setting, warnings } = result;
  const overTime = html`<p class="soft">All plots share one time axis: drag over one, or use the buttons, to zoom them all; a double click shows the whole run. Shaded: faults, of the scenario or through --ctl. Dotted: from there on no further facts are made, and what waits is delivered.</p>${runPlots(result, parts.plans)}`;
  return page(parts, {
    title: `${titles[outcomeOf(result)]}: ${scenario}`,
    head: html`<h1>${scenario}</h1><p class="soft">${title} · ${dayOf(startedAt)}</p>`,
    summary: html`${verdictSection(result)}${tilesSection(result)}`,
    sections: [
      notesSection('notes', 'Notes on the figures', warnings),
      proofSection(result),
      thresholdSection(result),
      rampSection(result),
      interventionsSection(result),
      factSection(result),
      commandSection(result),
      latencySection(result),
      { id: 'time', title: 'Over time', body: overTime },
      errorSection(result),
      machineSection(result),
      { id: 'map', title: 'Map', body: mapBody(result) },
      settingSection(result),
    ],
    version: setting.version,
  });
}

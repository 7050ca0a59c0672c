// The files of a report: of `simulator/pages`, and uPlot, which the build puts into `dist/node_modules`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { PageParts } from '../report/page.ts';
import type { PlotPlan } from '../report/plots.ts';

const { resolve } = createRequire(import.meta.url);
const readUplot = (file: string): string => readFileSync(resolve(`uplot/${file}`), 'utf8').trim();

const readPage = (file: string): string => readFileSync(new URL(`../pages/${file}`, import.meta.url), 'utf8');

/** Parts of a report page besides its figures. */
export const readReportParts = (): PageParts => ({
  script: `/*\n${readUplot('LICENSE')}\n*/\n${readUplot('dist/uPlot.iife.min.js')}\n${readPage('report.js')}`,
  style: readUplot('dist/uPlot.min.css') + readPage('report.css'),
  plans: JSON.parse(readPage('plots.json')) as readonly PlotPlan[],
});

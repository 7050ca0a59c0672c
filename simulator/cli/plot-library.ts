// uPlot as text, for the reports that hold it: of `dist/node_modules`, where the build puts its files, or of the packages of a checkout.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { PlotLibrary } from '../report/page.ts';

const { resolve } = createRequire(import.meta.url);
const read = (file: string): string => readFileSync(resolve(`uplot/${file}`), 'utf8').trim();

export const readPlotLibrary = (): PlotLibrary => ({
  script: read('dist/uPlot.iife.min.js'),
  style: read('dist/uPlot.min.css'),
  licence: read('LICENSE'),
});

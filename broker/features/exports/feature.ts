// Records of a device as files: GPX, CSV, GeoJSON.
import { reportOperations } from '../../api/events/reports.ts';
import { feature } from '../feature.ts';
import { exportOperations } from './exports.ts';

export const exports = feature({ operations: exportOperations, follows: reportOperations });

// The state of the whole service, for its operator: one answer that the operator's page and programs read. It changes nothing, and the
// token that only reads suffices.
import type { Static } from 'typebox';
import { Type } from 'typebox';
import { findingsOf, levelOf } from '../../core/operating/findings.ts';
import type { ServiceStatus } from '../../ports/service-status.ts';
import { operation } from '../base/operation.ts';
import { ok } from '../base/shapes.ts';
import { needOperator } from './admin-caller.ts';
import { statusAnswer } from './status-shapes.ts';

export type StatusView = Static<typeof statusAnswer>;

const nowS = 1_763_683_200;

const example: StatusView = {
  ...ok,
  timestamp: nowS,
  level: 'look',
  findings: [{ code: 'account_near_limit', level: 'look', subject: 'acme', value: 96, limit: 90, unit: '%' }],
  service: {
    version: '1.0.0',
    nodeVersion: 'v20.19.2',
    startedAtS: nowS - 90_000,
    database: 'sqlite',
    ingress: 'own',
    checks: [{ name: 'database', fault: '' }],
  },
  accounts: {
    atS: nowS - 12,
    total: 1,
    devices: 480,
    devicesOnline: 412,
    oldestAtS: nowS - 8_640_000,
    listed: [
      {
        accountID: 'acme',
        accountDisplayName: 'Acme Haulage',
        state: 'active',
        devices: 480,
        devicesOnline: 412,
        maximumDevices: 500,
        users: 14,
        createdAtS: nowS - 8_640_000,
        expiresAtS: 0,
        retainedDays: 365,
      },
    ],
  },
  quarantine: {
    atS: nowS - 12,
    payloads: 3,
    bytes: 412,
    examined: 3,
    lastHour: 0,
    reasons: [
      {
        reason: 'not JSON',
        payloads: 3,
        devices: 1,
        oldestAtS: nowS - 90_000,
        newestAtS: nowS - 80_000,
        accountID: 'acme',
        deviceID: 'truck-17',
      },
    ],
  },
  backup: {
    atS: nowS - 12,
    lateAfterS: 93_600,
    good: {
      atS: nowS - 30_000,
      file: 'fleet-2025-11-20.db',
      bytes: 734_003_200,
      durationS: 41.2,
      hasSigningKey: false,
    },
    failed: null,
    archive: null,
  },
  queues: { atS: nowS - 2, listed: [{ name: 'commits', waiting: 1, oldestS: 0.004 }] },
  connections: {
    devices: 412,
    devicesWaiting: 0,
    apps: 22,
    streams: 9,
    refused: [{ name: 'refused_credentials', lastHour: 4, lastAtS: nowS - 700 }],
    overLimit: [],
  },
  storage: {
    atS: nowS - 12,
    databaseBytes: 734_003_200,
    walBytes: 4_194_304,
    freeBytes: 88_000_000_000,
    slices: { open: 1, closed: 6, retired: 0, dropping: 0 },
    oldestSliceAtS: nowS - 8_000_000,
    lastEventNo: 5_120_344,
    notifiedEventNo: 5_120_344,
  },
  bridges: null,
  leases: [],
  advisories: {
    atS: nowS - 20,
    fault: '',
    serviceUntilAtS: nowS + 157_680_000,
    unitsUntilAtS: nowS + 157_680_000,
    listed: [
      {
        id: 'FLEETWARD-2026-0001',
        severity: 'medium',
        summary: 'A unit accepts a longer name than it can show',
        action: 'Install 0.2.1.',
        url: 'https://fleetward.example/advisories/2026-0001',
        isOfService: false,
        units: 3,
      },
    ],
  },
  certificates: [{ setting: 'mqtt.tls', untilAtS: nowS + 12_960_000 }],
  errors: {
    sinceAtS: nowS - 3600,
    listed: [{ name: 'payload_quarantined', lastHour: 2, lastAtS: nowS - 600, level: 'warn' }],
  },
};

/** The operation of a service whose state `status` gathers. */
export const statusOperation = (status: ServiceStatus) =>
  operation({
    id: 'adminGetStatus',
    method: 'GET',
    path: '/admin/status/authorization',
    forms: ['versioned'],
    access: 'viewer',
    token: 'none',
    tag: 'Diagnostics',
    summary: 'State of the service',
    description: `Everything that the page of this listener shows. Members ending in \`AtS\` are epoch seconds, in \`S\` seconds; a group from the database
says in its \`atS\` how old it is (30 seconds in good times), and stays as it was while the database does not answer. \`findings\` are values past a limit:
\`act\` now, or \`look\` by day. The token of \`admin.viewTokenFile\` may call this and no other operation.`,
    params: Type.Object({}),
    body: null,
    result: statusAnswer,
    errors: [],
    effects: false,
    examples: { result: example },
    async run({ caller }) {
      needOperator(caller);
      const facts = await status.read();
      const findings = findingsOf(facts);
      return {
        ...ok,
        ...facts,
        level: levelOf(findings),
        findings: [...findings],
      } as StatusView;
    },
  });

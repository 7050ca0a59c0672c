// An account in which a cut needs two people: a run counts the cuts that wait, or has them approved by a second user, and ends either
// way with every vehicle restored.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { type FaultyBroker, startFaultyBroker } from '../support/broker/faulty-broker.ts';
import { runAgainst } from '../support/programs/simulated-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetward-approvals-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const password = 'another long password of a test';

/** A good broker whose account gives cuts to two people only; both have had their rights for long and are confirmed. */
async function startApprovingBroker(): Promise<FaultyBroker> {
  let db: Database | null = null;
  const broker = await startFaultyBroker((inside) => {
    db = inside.db;
    return {
      done: [],
      onUplink: (device, message, { onUplink }) => onUplink(device, message),
      publish: (device, message, publish) => publish(device, message),
    };
  });
  const { http, login } = broker.target;
  const post = async (path: string, body: object, token = ''): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/json', authorization: token };
    const answer = await fetch(`${http}/api/v1${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const { token } = await post('/auth/login', login);
  await post(
    '/user/createuser/authorization',
    { userID: 'otto', password, roleID: 'operator' },
    String(token),
  );
  await post('/auth/updateaccount/authorization', { accountID: 'sim', needsApproval: true }, String(token));
  await (db as Database | null)?.write([sql`UPDATE users SET granted_s = 1, granted_by = NULL`]);
  return broker;
}

/** Each cut has 15 s until its restore: agents of a busy machine prove late that their vehicle stands. */
const cuts = {
  durationS: 40,
  commands: { perMinute: 10, restoreS: 15, features: ['enginecutoff'] },
  needs: { commands: 0 },
};

describe.concurrent('a run in an account in which a cut needs two people', () => {
  it('passes and warns when cuts wait for an approval', async () => {
    const broker = await startApprovingBroker();
    const result = await runAgainst(broker, folder, cuts);
    await broker.close();
    expect(result.breaches).toEqual([]);
    expect(result.expectations.filter(({ isMet }) => !isMet)).toEqual([]);
    expect(result).toMatchObject({ isPassed: true, refusedCommands: { count: 0 } });
    expect(result.approvals).toEqual({ approved: 0, waiting: expect.any(Number) });
    expect(result.approvals.waiting).toBeGreaterThan(0);
    expect(result.warnings.join()).toMatch(/cuts? waits? for the approval of a second user.*--approver/);
    expect(result.figures['carriedOut']).toBe(0);
  });

  it('is too small when the scenario needs a command that waits for an approval', async () => {
    const broker = await startApprovingBroker();
    const result = await runAgainst(broker, folder, { ...cuts, needs: { commands: 1 } });
    await broker.close();
    expect(result.isPassed).toBe(false);
    expect(result.expectations.filter(({ isMet }) => !isMet)).toMatchObject([{ name: 'commands', seen: 0 }]);
  });

  it('approves cuts as the second user given by --approver', async () => {
    const broker = await startApprovingBroker();
    const approver = { accountID: 'sim', userID: 'otto', password };
    const approving = { ...broker, target: { ...broker.target, approver } };
    const result = await runAgainst(approving, folder, { ...cuts, needs: { commands: 1 } });
    await broker.close();
    expect(result.breaches).toEqual([]);
    expect(result.expectations.filter(({ isMet }) => !isMet)).toEqual([]);
    expect(result).toMatchObject({ isPassed: true, approvals: { waiting: 0 } });
    expect(result.approvals.approved).toBeGreaterThan(0);
    expect(result.figures['carriedOut']).toBeGreaterThan(0);
  });
});

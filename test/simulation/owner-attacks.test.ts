// A real agent with an owner's key, a real ledger, a network between them, and an attacker with the broker's signing key, database and configuration.
// No relay moves to its restrictive state, every restore works; what two persons signed is carried out, also with the broker killed between the two.
import { expect, it, onTestFinished } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import type { ApiServices } from '../../broker/api/base/api-services.ts';
import type { Caller } from '../../broker/api/base/caller.ts';
import { orderCommand } from '../../broker/api/commands/command-order.ts';
import { agree } from '../../broker/api/commands/signed-decision.ts';
import { createArrivalClock } from '../../broker/commands/arrival.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { keepOwnerDocument } from '../../broker/store/commands/owner-documents.ts';
import type { RelayChange } from '../../simulator/hardware/contacts.ts';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import type { FeatureName, FeatureState } from '../../src/core/events/event.ts';
import type { PersonalOrder } from '../../src/core/persons/persons.ts';
import { type CommandBody, signedTypes } from '../../src/core/wire/wire.ts';
import { sql } from '../../src/sql.ts';
import { insertUser } from '../support/database/store-rows.ts';
import { extent } from '../support/extent.ts';
import type { TestOwner } from '../support/machine/test-owner.ts';
import { createAttackedOwner, createAttacker, presentDocument } from '../support/vehicle/owner-attacks.ts';
import { createFleet, type Fleet, runFor } from '../support/virtual/virtual-fleet.ts';

/** Time for the vehicle to prove that it stands, and for an order to be carried out. */
const settleMs = 60_000;

const olga: Caller = {
  accountID: 'acme',
  userID: 'olga',
  role: 'operator',
  tokenHash: '',
  scope: wholeAccount('acme'),
  scopes: null,
  fleetRevision: 0,
};
const actor = { caller: olga, source: '192.0.2.1' };

interface World {
  readonly fleet: Fleet;
  readonly owner: TestOwner;
  readonly restrictive: RelayChange[];
  services(): ApiServices;
  /** Lets virtual time pass until it is done. */
  settle<T>(work: Promise<T>): Promise<T>;
  target(): Promise<{ readonly boot: string; readonly counter: number; readonly nowMs: number }>;
  restore(feature: FeatureName): Promise<string>;
}

async function start(seed: string): Promise<World> {
  const owner = createAttackedOwner();
  const documentText = JSON.stringify(presentDocument(owner));
  const restrictive: RelayChange[] = [];
  const fleet = await createFleet(seed, await readBoardProfile('waveshare-relay-d'), {
    owner: { pin: owner.pin, documentText },
    onRelayChange: (change) =>
      void (change.energised && change.feature !== null ? restrictive.push(change) : 0),
  });
  onTestFinished(() => fleet.close());
  const { broker, clock, entropy } = fleet;
  const uploaded = { uploadedMs: clock.utcMs(), uploadedBy: 'admin' };
  await broker.db.write([
    insertUser({ accountID: 'acme', userID: 'olga', passwordHash: '', role: 'operator', createdS: 1 }),
    ...keepOwnerDocument({
      accountID: 'acme',
      pin: owner.pin,
      document: documentText,
      setVersion: 1,
      listVersion: 2,
      ...uploaded,
    }),
  ]);
  const silent = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const log = { ...silent, with: () => log };
  const services = (): ApiServices =>
    ({
      db: broker.db,
      clock,
      entropy,
      log,
      persons: personsCrypto,
      ledger: broker.ledger(),
    }) as unknown as ApiServices;
  const settle = async <T>(work: Promise<T>): Promise<T> => {
    const course = { isDone: false };
    const done = work.finally(() => void (course.isDone = true));
    done.catch(() => undefined);
    while (!course.isDone) await runFor(fleet, 50);
    return done;
  };
  const arrived = createArrivalClock(clock);
  void fleet.startAgent();
  fleet.world.calm();
  await runFor(fleet, 900_000);
  return {
    fleet,
    owner,
    restrictive,
    services,
    settle,
    async target() {
      const [row] = await broker.db.read(
        sql`SELECT boot, command_counter FROM devices WHERE device_id = 'truck-1'`,
      );
      return { boot: String(row?.['boot']), counter: Number(row?.['command_counter']), nowMs: clock.utcMs() };
    },
    async restore(feature) {
      const order = { deviceID: 'truck-1', feature, state: '0', arrivedUs: arrived() } as const;
      const { commandID } = await settle(orderCommand(services(), actor, order));
      await runFor(fleet, 10_000);
      const [row] = await broker.db.read(
        sql`SELECT command_state FROM commands WHERE command_id = ${commandID}`,
      );
      return String(row?.['command_state']);
    },
  };
}

const ask = (world: World, feature: FeatureName, state: FeatureState = '1') =>
  world.settle(
    orderCommand(world.services(), actor, {
      deviceID: 'truck-1',
      feature,
      state,
      reason: 'stolen',
      arrivedUs: createArrivalClock(world.fleet.clock)(),
    }),
  );

const sign = async (world: World, approvalID: string, person: string, order: PersonalOrder) =>
  world.settle(agree(world.services(), actor, { approvalID }, world.owner.sign(person, order)));

/** An order that both persons sign. @param between after the first. */
async function order(
  world: World,
  feature: FeatureName,
  between: () => Promise<void> = async () => undefined,
) {
  const { approvalID, signing } = await ask(world, feature);
  if (signing === null) throw new Error('it needs no persons');
  const persons = ['ann', 'bob'].slice(0, signing.needed);
  for (const [at, person] of persons.entries()) {
    if (at === 1) await between();
    await sign(world, approvalID, person, signing.order);
  }
  const [row] = await world.fleet.broker.db.read(
    sql`SELECT c.command_id, c.assertions FROM commands c WHERE c.approval_id = ${approvalID}`,
  );
  await runFor(world.fleet, settleMs);
  const [ended] = await world.fleet.broker.db.read(
    sql`SELECT command_state, detail FROM commands WHERE approval_id = ${approvalID}`,
  );
  const sent: CommandBody = {
    ...signing.order,
    commandID: String(row?.['command_id']),
    issuedMs: world.fleet.clock.utcMs() - settleMs,
    mode: 'interlock',
    issuer: 'olga',
    cancel: false,
    assertions: JSON.parse(String(row?.['assertions'])),
  };
  return { state: `${String(ended?.['command_state'])} ${String(ended?.['detail'])}`.trim(), sent };
}

it('carries out what two persons signed, with the broker killed between the two, and a restore without any', async () => {
  const world = await start('honest');
  const { broker, board } = world.fleet;
  const { state } = await order(world, 'enginecutoff', async () => {
    broker.kill();
    await runFor(world.fleet, 5000);
    broker.start();
    await runFor(world.fleet, 120_000);
  });
  expect(state).toBe('confirmed');
  expect(board.isEnergised('enginecutoff')).toBe(true);
  expect(await world.restore('enginecutoff')).toBe('confirmed');
  expect(board.isEnergised('enginecutoff')).toBe(false);
});

it('moves no relay for an attacker who holds the service, whatever is sent, and restores each time', async () => {
  const world = await start('attacked');
  const { fleet, restrictive } = world;
  const captured: CommandBody[] = [];
  for (const feature of ['enginecutoff', 'cargoaccess'] as const) {
    const { state, sent } = await order(world, feature);
    expect(state).toBe('confirmed');
    captured.push(sent);
    expect(await world.restore(feature)).toBe('confirmed');
  }
  // A restart of the vehicle: what was captured is of an earlier boot.
  fleet.killAgent();
  await runFor(fleet, 2000);
  void fleet.startAgent();
  await runFor(fleet, 900_000);
  restrictive.length = 0;
  const attacker = createAttacker(world.owner, captured, fleet.entropy.stream('attacker'));
  const used = new Map<string, number>();
  const attempts = extent({ gate: 2000, nightly: 30_000 });
  let restores = 0;
  for (let count = 0; count < attempts; count += 1) {
    const target = await world.target();
    const { name, type, body } = attacker.next(target);
    used.set(name, (used.get(name) ?? 0) + 1);
    if (!fleet.broker.forge(type, body)) throw new Error('the vehicle is not connected');
    // The database is the attacker's too: it follows the counter that was used.
    if (type === signedTypes.command)
      await fleet.broker.db.write([sql`UPDATE devices SET command_counter = command_counter + 1`]);
    if (count % 20 === 19) await runFor(fleet, 1000);
    if (count % (attempts / 20) !== 0) continue;
    restores += 1;
    const feature = restores % 2 === 0 ? 'cargoaccess' : 'enginecutoff';
    expect(await world.restore(feature)).toBe('confirmed');
  }
  await runFor(fleet, settleMs);
  expect([...used.keys()].toSorted()).toEqual(attacker.names.toSorted());
  expect(restrictive).toEqual([]);
  // Rule I9 counts the ends of a command: a replay of one that the vehicle has forgotten since ends again, as refused.
  expect(fleet.truth.breaches.filter((one) => !one.includes('I9:'))).toEqual([]);
  // The vehicle still obeys its owner's persons.
  expect((await order(world, 'enginecutoff')).state).toBe('confirmed');
});

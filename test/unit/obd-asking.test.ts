// A car that is asked, on a virtual clock: what each kind of adapter shows, what is written and when, and that it ends by itself.
import { describe, expect, it } from 'vitest';
import { obdBusTiming } from '../../agent/bus/obd-bus.ts';
import { chooseValues } from '../../agent/core/bus/bus-choice.ts';
import { busVetoAt } from '../../agent/core/bus/bus-veto.ts';
import { allowedCommands, requestCommands } from '../../agent/core/obd/obd-commands.ts';
import { type ObdDesk, obdDesk } from '../support/bus/obd-desk.ts';

const requests = ({ writes }: ObdDesk) => writes.filter(({ command }) => !/^(AT|ST)/.test(command));
const facts = (desk: ObdDesk) => desk.bus.reading().adapter;
const valuesOf = (desk: ObdDesk) =>
  Object.fromEntries(
    [...chooseValues(desk.bus.reading().view.values, desk.clock.monoMs())].map(([name, one]) => [
      name,
      one.value,
    ]),
  );

describe('an adapter that asks a car', () => {
  it('is opened, finds the protocol, and gives every value with its source and age', async () => {
    const desk = obdDesk({ given: { speed: 40, rpm: 1500, lamp: true, codes: ['0301', 'C123'] } });
    await desk.pass(60_000);
    expect(facts(desk)).toMatchObject({
      phase: 'open',
      refusal: null,
      dialect: 'elm327',
      version: 'ELM327 v1.4b',
    });
    expect(facts(desk).obd).toMatchObject({
      protocol: 6,
      failedProbes: [],
      hasLongRequests: true,
      hasAnswerCount: true,
    });
    expect(valuesOf(desk)).toMatchObject({
      speed: 40,
      rpm: 1500,
      coolant: 90,
      odometer: 12_345.6,
      engineRunTime: 600,
      fuelRate: 3.5,
      batteryVolts: 14.1,
      malfunctionLamp: 1,
      codeCount: 2,
    });
    expect(valuesOf(desk)['fuelLevel']).toBeCloseTo(50.2, 1);
    const { view } = desk.bus.reading();
    expect(view.vin?.value).toBe('1D4GP00R55B123456');
    expect(view.obdCodes).toContainEqual(
      expect.objectContaining({ list: 'stored', value: ['P0301', 'U0123'] }),
    );
    expect(view.values.find(({ name }) => name === 'speed')).toMatchObject({
      pid: '0D',
      source: 0xe8,
      spn: null,
    });
    await desk.bus.close();
  });

  it('is found to be a clone by its probes, and then asked for single values without a count', async () => {
    const desk = obdDesk({ kind: 'clone', given: { speed: 10 } });
    await desk.pass(30_000);
    expect(facts(desk)).toMatchObject({ phase: 'open', dialect: 'clone', version: 'ELM327 v2.1' });
    expect(facts(desk).obd?.failedProbes).toEqual(['ATPPS', 'ATFE', 'ATSS', 'ATCSM1', 'ATAMC', 'ATCTM1']);
    expect(requests(desk).every(({ command }) => command.length <= 4)).toBe(true);
    expect(valuesOf(desk)).toMatchObject({ speed: 10 });
    await desk.bus.close();
  });

  it('is a clone where it knows every probe and not the number of answers', async () => {
    const desk = obdDesk({ lacks: [] });
    const { receive } = desk.adapter;
    desk.adapter.receive = (bytes) =>
      String.fromCharCode(...bytes) === '010D1\r'
        ? void desk.clock.after(10, () => desk.send('?\r\r>'))
        : receive(bytes);
    await desk.pass(20_000);
    expect(facts(desk).obd).toMatchObject({ kind: 'clone', failedProbes: ['010D1'], hasAnswerCount: false });
    await desk.bus.close();
  });

  it('is an STN by the command that only an STN answers', async () => {
    const desk = obdDesk({ kind: 'stn' });
    await desk.pass(20_000);
    expect(facts(desk)).toMatchObject({ phase: 'open', dialect: 'stn' });
    expect(facts(desk).obd?.device).toBe('STN1110 v4.0.4');
    await desk.bus.close();
  });

  it('is refused where it cannot show headers, or measures no supply', async () => {
    const headless = obdDesk({ lacks: ['ATH1'] });
    await headless.pass(600_000);
    expect(facts(headless)).toMatchObject({ phase: 'waiting', refusal: 'unfit_adapter' });
    expect(headless.opens()).toBe(1);
    await headless.bus.close();
    const loose = obdDesk({ volts: 0 });
    await loose.pass(10_000);
    expect(facts(loose).refusal).toBe('no_supply');
    expect(requests(loose)).toEqual([]);
    await loose.bus.close();
  });

  it('asks only what a control unit offers, at most once a second while standing and four times while driving', async () => {
    const desk = obdDesk({ given: { rpm: 800 } });
    await desk.pass(120_000);
    for (const request of desk.car.requests) expect(requestCommands as readonly string[]).toContain(request);
    const standing = requests(desk).filter(({ atMs }) => atMs > 60_000);
    expect(standing.length).toBeLessThanOrEqual(61);
    desk.car.speed = 50;
    await desk.pass(70_000);
    const driving = requests(desk).filter(({ atMs }) => atMs > 130_000);
    expect(driving.length).toBeLessThanOrEqual(4 * 60 + 1);
    expect(driving.length).toBeGreaterThan(60);
    await desk.bus.close();
  });

  it('reads the trouble codes at once when their number changes, and else every ten minutes', async () => {
    const desk = obdDesk({ given: { codes: ['0301'] } });
    const asked = () => desk.car.requests.filter((request) => request === '03').length;
    await desk.pass(300_000);
    expect(asked()).toBe(1);
    desk.car.codes = ['0301', '0302'];
    await desk.pass(70_000);
    expect(asked()).toBe(2);
    await desk.bus.close();
  });

  it('gives up a request that is never answered, and goes on with the others', async () => {
    const desk = obdDesk();
    await desk.pass(2_000_000 / 8);
    // Mode 0A has no answer in this car.
    expect(facts(desk).phase).toBe('open');
    await desk.pass(1_900_000);
    expect(facts(desk).obd?.givenUp).toEqual(['0A']);
    await desk.bus.close();
  }, 120_000);
});

describe('what is written', () => {
  it('is nothing without consent: the port is not opened', async () => {
    const desk = obdDesk({ config: { hasConsent: false } });
    await desk.pass(60_000);
    expect(desk.opens()).toBe(0);
    expect(facts(desk)).toMatchObject({ phase: 'waiting', refusal: 'no_consent', writtenBytes: 0 });
    await desk.bus.close();
  });

  it.each(['ignition_off', 'ignition_unknown', 'ignition_new', 'battery_low'] as const)(
    'is nothing with %s, from that moment on',
    async (permission) => {
      const desk = obdDesk({ permission });
      await desk.pass(30_000);
      expect(desk.opens()).toBe(0);
      desk.permission = 'granted';
      await desk.pass(20_000);
      const written = desk.writes.length;
      expect(written).toBeGreaterThan(20);
      desk.permission = permission;
      await desk.pass(300_000);
      expect(desk.writes).toHaveLength(written);
      expect(desk.writes.every((one) => one.permission === 'granted')).toBe(true);
      expect(facts(desk)).toMatchObject({ phase: 'waiting', refusal: permission });
      await desk.bus.close();
    },
  );

  it('is counted, command by command, and each is in the allow-list', async () => {
    const desk = obdDesk({ given: { speed: 30 } });
    await desk.pass(60_000);
    const written: Readonly<Record<string, number>> = facts(desk).obd?.written ?? {};
    expect(Object.values(written).reduce((sum, count) => sum + count, 0)).toBe(desk.writes.length);
    for (const { command } of desk.writes) expect(allowedCommands as readonly string[]).toContain(command);
    expect(facts(desk).writtenBytes).toBe(
      desk.writes.reduce((sum, { command }) => sum + command.length + 1, 0),
    );
    await desk.bus.close();
  });

  it('ends when the car sleeps, and is tried ever more rarely, until the ignition was off', async () => {
    const desk = obdDesk();
    await desk.pass(30_000);
    desk.car.isAsleep = true;
    await desk.pass(3_600_000);
    expect(facts(desk)).toMatchObject({ phase: 'waiting', refusal: 'silent_vehicle' });
    const opens = desk.opens();
    expect(opens).toBe(1 + obdBusTiming.retryMs.length);
    await desk.pass(3_600_000);
    expect(desk.opens()).toBe(opens);
    desk.permission = 'ignition_off';
    await desk.pass(1000);
    desk.car.isAsleep = false;
    desk.permission = 'granted';
    await desk.pass(10_000);
    expect(facts(desk).phase).toBe('open');
    await desk.bus.close();
  }, 120_000);

  it('ends after three errors of the bus in a minute, until the ignition was off', async () => {
    const desk = obdDesk();
    await desk.pass(30_000);
    desk.adapter.fault = 'can_error';
    await desk.pass(10_000);
    expect(facts(desk).refusal).toBe('bus_errors');
    desk.adapter.fault = null;
    const written = desk.writes.length;
    await desk.pass(600_000);
    expect(desk.writes).toHaveLength(written);
    await desk.bus.close();
  });

  it.each(['unable', 'no_data', 'bus_init', 'can_error', 'buffer_full'] as const)(
    'ends with back-off when the search meets %s',
    async (fault) => {
      const desk = obdDesk();
      desk.adapter.fault = fault;
      await desk.pass(120_000);
      expect(facts(desk).refusal).toBe('silent_vehicle');
      expect(desk.opens()).toBeLessThanOrEqual(4);
      desk.adapter.fault = null;
      await desk.pass(300_000);
      expect(facts(desk).phase).toBe('open');
      await desk.bus.close();
    },
  );

  it.each(['mute', 'garbage'] as const)('ends with back-off before an adapter that is %s', async (fault) => {
    const desk = obdDesk();
    desk.adapter.fault = fault;
    await desk.pass(120_000);
    expect(facts(desk).refusal).toBe('silent_adapter');
    expect(new Set(desk.writes.map(({ command }) => command))).toEqual(new Set(['ATZ']));
    expect(desk.writes.length).toBeLessThanOrEqual(16);
    await desk.bus.close();
  });

  it('ends on a battery that is low twice, by the adapter', async () => {
    const desk = obdDesk();
    await desk.pass(20_000);
    desk.adapter.volts = 11.5;
    await desk.pass(60_000);
    expect(facts(desk).refusal).toBe('battery_low');
    const written = desk.writes.length;
    await desk.pass(600_000);
    expect(desk.writes).toHaveLength(written);
    await desk.bus.close();
  });

  it('begins anew after the supply dipped, not before 5 s', async () => {
    const desk = obdDesk({ given: { speed: 20 } });
    await desk.pass(20_000);
    desk.adapter.fault = 'reset_while_asked';
    await desk.pass(4000);
    const before = desk.writes.length;
    await desk.pass(10_000);
    expect(desk.writes[before]?.command).toBe('ATZ');
    expect(facts(desk).phase).toBe('open');
    await desk.bus.close();
  });

  it('waits for the prompt: an answer that takes 4 s is no reason for another request', async () => {
    const desk = obdDesk({ delayMs: 1500 });
    await desk.pass(120_000);
    expect(facts(desk).phase).toBe('open');
    const times = desk.writes.map(({ atMs }) => atMs);
    for (const [n, atMs] of times.entries())
      if (n > 0) expect(atMs - (times[n - 1] ?? 0)).toBeGreaterThanOrEqual(1500);
    await desk.bus.close();
  });

  it('comes back within 5 s after the adapter was plugged in again', async () => {
    const desk = obdDesk({ given: { speed: 20 } });
    await desk.pass(20_000);
    desk.unplug();
    await desk.pass(30_000);
    expect(facts(desk)).toMatchObject({ phase: 'waiting', refusal: 'port' });
    expect(desk.logged).toEqual(['obd_lost', 'obd_lost']);
    desk.plug();
    await desk.pass(5000);
    expect(facts(desk).phase).toBe('open');
    await desk.bus.close();
  });
});

describe('a car that is asked', () => {
  it('refuses a cut while it moves or its engine runs, at the first answer, and never shows rest', async () => {
    const desk = obdDesk();
    const veto = () => busVetoAt(desk.bus.reading(), desk.clock.monoMs());
    await desk.pass(30_000);
    expect(veto()).toBeNull();
    expect(desk.bus.reading().view.motion).toBeNull();
    desk.car.rpm = 700;
    await desk.pass(3500);
    expect(veto()).toEqual({ isMoving: false, isEngineRunning: true });
    desk.car.speed = 4;
    await desk.pass(3500);
    expect(veto()).toEqual({ isMoving: true, isEngineRunning: true });
    expect(desk.readings.at(-1)?.view.movement?.value).toBe(4);
    await desk.bus.close();
  });

  it('says nothing against a cut any more seconds after it ceased to answer', async () => {
    const desk = obdDesk({ given: { speed: 50, rpm: 2000 } });
    await desk.pass(20_000);
    desk.unplug();
    await desk.pass(8000);
    expect(busVetoAt(desk.bus.reading(), desk.clock.monoMs())).toBeNull();
    await desk.bus.close();
  });
});

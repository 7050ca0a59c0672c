// The settings as the console shows and judges them.
import { describe, expect, it } from 'vitest';
import { settingTables } from '../../broker/console/state/device-view.ts';
import {
  changesBetween,
  faultsOf,
  lookOf,
  settingsOf,
  typedOf,
  withDraft,
} from '../../broker/console/state/settings/settings-view.ts';
import { settingTexts } from '../../build/words/setting/en.ts';
import { settingsSchema } from '../../src/core/settings/settings.ts';

const all = settingTables.flatMap(settingsOf);
const draftOver = (choice: Parameters<typeof withDraft>[0], draft: Parameters<typeof withDraft>[1]) =>
  withDraft(choice, draft, 'metric');
const lookedAt = (draft: Readonly<Record<string, string>>) =>
  changesBetween({}, draftOver({}, draft)).map(lookOf);

describe('a setting of the console', () => {
  it('is there for each member of the tables, with its name', () => {
    expect([...settingTables].sort()).toEqual(Object.keys(settingsSchema.properties).sort());
    for (const { table, name } of all)
      expect([name, (settingTexts.settings.names[table] as Record<string, string>)[name]]).not.toEqual([
        name,
        undefined,
      ]);
  });

  it('has the unit of its name: no number but a count is without one', () => {
    const unitOf = (pointer: string) => all.find((one) => one.pointer === pointer)?.number?.unit;
    expect(all.filter(({ number }) => number?.unit === 'people').map(({ name }) => name)).toEqual([
      'peopleMost',
    ]);
    expect(unitOf('/fuel/lowHysteresis')).toBe('share');
    expect(unitOf('/fuel/idlePerHour')).toBe('share');
    expect(unitOf('/link/backlogPerS')).toBe('perSecond');
    expect(unitOf('/link/monthlyMb')).toBe('megabytes');
    expect(unitOf('/alarms/speedingToleranceKmh')).toBe('kmh');
  });

  it('comes back as it was after it was shown and typed, for every default', () => {
    for (const setting of all) {
      if (setting.standard === null) continue;
      const settings = draftOver({}, { [setting.pointer]: typedOf(setting, setting.standard, 'metric') });
      expect([settings, faultsOf(settings)]).toEqual([
        { [setting.table]: { [setting.name]: setting.standard } },
        new Set(),
      ]);
    }
  });

  it('is refused by the limits of the vehicle, and by what is no number', () => {
    for (const text of ['0', '3601', 'ten', '-5', '1e3', '7 s'])
      expect([text, [...faultsOf(draftOver({}, { '/reporting/movingS': text }))]]).toEqual([
        text,
        ['/reporting/movingS'],
      ]);
    expect(faultsOf(draftOver({}, { '/fuel/theftFraction': '7,5' }))).toEqual(new Set());
  });

  it('that is emptied is not chosen any more, and the others stay', () => {
    const chosen = { reporting: { movingS: 5, stoppedS: 60 }, alarms: { towing: false } };
    expect(draftOver(chosen, { '/reporting/movingS': '', '/alarms/towing': '' })).toEqual({
      reporting: { stoppedS: 60 },
    });
  });

  it('is looked at twice where it stops an alarm or decides when a zone acts', () => {
    expect(lookedAt({ '/alarms/jamS': '0' })).toEqual(['watch']);
    expect(lookedAt({ '/alarms/towing': 'off' })).toEqual(['watch']);
    expect(lookedAt({ '/zones/dwellS': '60' })).toEqual(['zones']);
    expect(lookedAt({ '/alarms/jamS': '20', '/alarms/towing': 'on' })).toEqual([null, null]);
  });
});

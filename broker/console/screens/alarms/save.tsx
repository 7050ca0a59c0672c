// Saves all alarms that the filter shows as a file: the same columns as the report of alarms.
import { useEffect, useRef, useState } from 'react';
import { Button, MenuItem } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import { findWords } from '../../../../build/words/find.ts';
import { reportWords } from '../../../../build/words/report.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import type { CsvSeparator } from '../../../../src/core/reports/csv.ts';
import { alarmRow } from '../../../../src/core/reports/rows.ts';
import { csvOfReport } from '../../../../src/core/reports/table.ts';
import { Icon } from '../../components/icon.tsx';
import type { MenuOfButton } from '../../components/menus/menu-button.tsx';
import { MenuPopover } from '../../components/menus/menu-popover.tsx';
import { Notice } from '../../components/texts.tsx';
import { useNow, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { readAlarms } from '../../service/reading/alarm-pages.ts';
import { saveFile } from '../../service/save-file.ts';
import type { AlarmFilter } from '../../state/alarm-view.ts';
import { compareAlarms } from '../../state/fleet-messages.ts';
import { dateOf } from '../../state/reports/report-dates.ts';
import { shownZone } from '../../words/measures.ts';
import { tableWordsOf } from '../reports/cell.tsx';

type Saving =
  | { readonly state: 'none' | 'cancelled' }
  | { readonly state: 'reading'; readonly count: number; readonly sinceMs: number }
  | { readonly state: 'saved'; readonly count: number }
  | { readonly state: 'failed'; readonly error: Error };

/** What takes longer says how far it is, ms. */
const usualMs = 2000;

function useSaving(show: AlarmFilter) {
  const words = useWords(reportWords, tabWords, cutWords);
  const [saving, setSaving] = useState<Saving>({ state: 'none' });
  const under = useRef<AbortController | null>(null);
  // A screen that is left saves nothing more.
  useEffect(() => () => under.current?.abort(), []);
  const begin = async (separator: CsvSeparator): Promise<void> => {
    if (under.current !== null) return;
    const controller = new AbortController();
    under.current = controller;
    const { signal } = controller;
    const sinceMs = Date.now();
    setSaving({ state: 'reading', count: 0, sinceMs });
    try {
      const read = await readAlarms(show, signal, (count) => setSaving({ state: 'reading', count, sinceMs }));
      signal.throwIfAborted();
      const alarms = show === 'closed' ? read : read.toSorted(compareAlarms);
      const names = new Map(alarms.map((alarm) => [alarm.deviceID, alarm.deviceDisplayName]));
      const table = {
        kind: 'alarms',
        rows: alarms.map(alarmRow),
        nameOf: (deviceID: string) => names.get(deviceID) || deviceID,
      } as const;
      const csv = csvOfReport(table, tableWordsOf(words), separator);
      const name = `alarms_${show}_${dateOf(sinceMs / 1000, shownZone())}.csv`;
      saveFile(name, new Blob([csv], { type: 'text/csv;charset=utf-8' }));
      setSaving({ state: 'saved', count: alarms.length });
    } catch (error) {
      setSaving(signal.aborted ? { state: 'cancelled' } : { state: 'failed', error: error as Error });
    } finally {
      under.current = null;
    }
  };
  return { saving, begin, cancel: (): void => under.current?.abort() };
}

function Outcome({ saving, cancel }: Omit<ReturnType<typeof useSaving>, 'begin'>) {
  const { find, reports: texts, common } = useWords(findWords, reportWords);
  const failure = useFailure(saving.state === 'failed' ? saving.error : null, find.file.notSaved);
  // Judged anew each second.
  useNow();
  if (saving.state === 'saved')
    return (
      <Notice tone="ok" icon="circle-check" role="status" title={find.file.saved({ count: saving.count })} />
    );
  if (saving.state === 'cancelled')
    return <Notice tone="look" icon="ban" role="status" title={texts.cancelled} />;
  if (saving.state !== 'reading') return failure;
  if (Date.now() - saving.sinceMs < usualMs) return null;
  return (
    <div className="notice busy">
      <Icon name="download" />
      <div className="row wrap">
        <strong role="status">{find.file.reading({ count: saving.count })}</strong>
        <Button className="button secondary small" onPress={cancel}>
          {common.cancel}
        </Button>
      </div>
    </div>
  );
}

interface SaveAlarmsProps {
  readonly of: MenuOfButton;
  readonly show: AlarmFilter;
}

/** The menu of its button, and what became of the file. */
export function SaveAlarms({ of, show }: SaveAlarmsProps) {
  const { reports: texts } = useWords(reportWords);
  const { begin, ...shown } = useSaving(show);
  return (
    <>
      <MenuPopover
        of={{ ...of, isOpen: of.isOpen && shown.saving.state !== 'reading' }}
        onAction={(key) => void begin(key === 'semicolon' ? 'semicolon' : 'comma')}
      >
        <MenuItem id="comma">{texts.saveTable}</MenuItem>
        <MenuItem id="semicolon">{texts.saveSemicolons}</MenuItem>
      </MenuPopover>
      <Outcome {...shown} />
    </>
  );
}

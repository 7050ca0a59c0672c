// A report as files: the table, or every record of its vehicles, with progress and a way to cancel.
import { Button, Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import { reportWords } from '../../../../build/words/report.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import type { CsvSeparator } from '../../../../src/core/reports/csv.ts';
import type { NameOf } from '../../../../src/core/reports/rows.ts';
import { csvOfReport, type ReportTable } from '../../../../src/core/reports/table.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { Notice, numberText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { ServiceError } from '../../service/call.ts';
import { saveFile } from '../../service/save-file.ts';
import { exportFormats, fileMost } from '../../service/track.ts';
import { dateOf } from '../../state/reports/report-dates.ts';
import { type Period } from '../../state/reports/report-view.ts';
import { shownZone } from '../../words/measures.ts';
import { type CellWords, tableWordsOf } from './cell.tsx';
import { filesMost, type useSaving } from './use-saving.ts';

const mebibyte = 1024 * 1024;

interface Table extends ReportTable {
  readonly period: Period;
  /** When it was read, epoch seconds. */
  readonly readS: number;
}

/** All rows of the table. */
function saveTable({ period, readS, ...table }: Table, words: CellWords, separator: CsvSeparator): void {
  const [from, to] = [period.fromS, period.toS === 0 ? readS : period.toS].map((at) =>
    dateOf(at, shownZone()),
  );
  const name = `${table.kind}_${from}_${to}.csv`;
  const csv = csvOfReport(table, tableWordsOf(words), separator);
  saveFile(name, new Blob([csv], { type: 'text/csv;charset=utf-8' }));
}

export function SavingNotice({
  files: { saving, cancel },
  nameOf,
}: {
  readonly files: ReturnType<typeof useSaving>;
  readonly nameOf: NameOf;
}) {
  const words = useWords(reportWords);
  const { reports: texts, common } = words;
  if (saving.state === 'none') return null;
  if (saving.state === 'saved')
    return (
      <Notice tone="ok" icon="circle-check" role="status" title={texts.saved({ files: saving.files })} />
    );
  if (saving.state === 'cancelled')
    return <Notice tone="look" icon="ban" role="status" title={texts.cancelled} />;
  if (saving.state === 'failed') {
    const { error } = saving;
    const isTooLarge = error instanceof ServiceError && error.code === 'too_large';
    const failure = failureText(error, words);
    return (
      <Notice
        tone="look"
        icon="triangle-alert"
        role="alert"
        title={texts.notSaved({ vehicle: nameOf(saving.deviceID) })}
      >
        {isTooLarge
          ? texts.tooLarge({ mebibytes: fileMost / mebibyte })
          : `${failure.title}. ${failure.hint}`}
      </Notice>
    );
  }
  const { file, files, bytes, deviceID } = saving;
  const title = texts.saving({ vehicle: nameOf(deviceID), file, files });
  return (
    <div className="notice busy">
      <Icon name="download" />
      <div>
        <strong role="status">{title}</strong>
        <p className="row wrap">
          <progress aria-label={title} value={file - 1} max={files} />
          <span className="muted">{texts.received({ mebibytes: numberText(bytes / mebibyte, 1) })}</span>
          <Button className="button secondary small" onPress={cancel}>
            {common.cancel}
          </Button>
        </p>
      </div>
    </div>
  );
}

interface SaveProps extends Table {
  /** Vehicles whose records are saved. */
  readonly deviceIDs: readonly string[];
  readonly files: ReturnType<typeof useSaving>;
}

export function SaveMenu({ deviceIDs, files: { saving, begin }, ...table }: SaveProps) {
  const words = useWords(reportWords, tabWords, cutWords);
  const { reports: texts } = words;
  const canSaveTracks = deviceIDs.length > 0 && deviceIDs.length <= filesMost;
  return (
    <MenuTrigger>
      <ActionButton className="button secondary" isOff={saving.state === 'saving'}>
        <Icon name="download" />
        {texts.save}
      </ActionButton>
      <Popover className="menu" placement="bottom end">
        <Menu
          aria-label={texts.save}
          disabledKeys={[
            ...(table.rows.length === 0 ? ['comma', 'semicolon'] : []),
            ...(canSaveTracks ? [] : exportFormats),
          ]}
          onAction={(key) => {
            const format = exportFormats.find((one) => one === key);
            if (format === undefined) saveTable(table, words, key === 'semicolon' ? 'semicolon' : 'comma');
            else void begin(deviceIDs, table.period, format);
          }}
        >
          <MenuItem id="comma" textValue={texts.saveTable}>
            {texts.saveTable}
          </MenuItem>
          <MenuItem id="semicolon" textValue={texts.saveSemicolons}>
            {texts.saveSemicolons}
          </MenuItem>
          <MenuSection>
            <Header>{canSaveTracks ? texts.saveTracks : texts.saveMost({ count: filesMost })}</Header>
            {exportFormats.map((format) => (
              <MenuItem key={format} id={format} textValue={texts.formats[format]}>
                {texts.formats[format]}
              </MenuItem>
            ))}
          </MenuSection>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

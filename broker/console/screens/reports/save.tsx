// A report as files: the table, or every record of its vehicles, with progress and a way to cancel.
import { Button, Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components';
import { ActionButton } from '../../components/action-button.tsx';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { Notice, numberText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { ServiceError } from '../../service/call.ts';
import { saveFile } from '../../service/save-file.ts';
import { exportFormats, fileMost } from '../../service/track.ts';
import { type ColumnID, formOf } from '../../state/reports/columns.ts';
import { csvOf } from '../../state/reports/csv.ts';
import { dateOf, type Period, type ReportKind } from '../../state/reports/report-view.ts';
import { type NameOf, type ReportRow, shownColumns, type Value, valueOf } from '../../state/reports/rows.ts';
import { cutWords } from '../../words/cut/words.ts';
import { reportWords } from '../../words/reports/words.ts';
import { tabWords } from '../../words/tabs/words.ts';
import { type CellWords, valueText } from './cell.tsx';
import { filesMost, type useSaving } from './use-saving.ts';

const mebibyte = 1024 * 1024;

/** A value for programs: times as UTC, spans in seconds, shares in percent, codes in words. */
function csvValue(column: ColumnID, value: Value, words: CellWords): number | string | null {
  if (value === null) return null;
  switch (formOf(column)) {
    case 'time':
      return new Date(Number(value) * 1000).toISOString();
    case 'share':
      return Math.round(Number(value) * 1000) / 10;
    case 'span':
    case 'km':
    case 'speed':
    case 'count':
      return Number(value);
    default:
      return valueText(column, value, words);
  }
}

function csvHead(column: ColumnID, { reports, trips, units }: CellWords): string {
  const name = reports.columns[column];
  switch (formOf(column)) {
    case 'time':
      return `${name} (UTC)`;
    case 'span':
      return `${name} (${reports.seconds})`;
    case 'km':
      return `${name} (${trips.km})`;
    case 'speed':
      return `${name} (${units.kmh})`;
    case 'share':
      return `${name} (${units.percent})`;
    default:
      return name;
  }
}

interface Table {
  readonly kind: ReportKind;
  /** In the order of the table. */
  readonly rows: readonly ReportRow[];
  readonly nameOf: NameOf;
  readonly period: Period;
  /** When it was read, epoch seconds. */
  readonly readS: number;
}

/** All rows of the table, with the id of the vehicle before its columns. */
function saveTable({ kind, rows, nameOf, period, readS }: Table, words: CellWords): void {
  const columns = shownColumns(kind, rows);
  const lines = [
    ['deviceID', ...columns.map((column) => csvHead(column, words))],
    ...rows.map((row) => [
      row.deviceID,
      ...columns.map((column) => csvValue(column, valueOf(row, column, nameOf), words)),
    ]),
  ];
  const name = `${kind}_${dateOf(period.fromS)}_${dateOf(period.toS === 0 ? readS : period.toS)}.csv`;
  // With a mark of its encoding, without which spreadsheets misread every letter but the English ones.
  saveFile(name, new Blob(['\ufeff', csvOf(lines)], { type: 'text/csv;charset=utf-8' }));
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
    return <Notice tone="ok" icon="circle-check" role="status" title={texts.saved(saving.files)} />;
  if (saving.state === 'cancelled')
    return <Notice tone="look" icon="ban" role="status" title={texts.cancelled} />;
  if (saving.state === 'failed') {
    const { error } = saving;
    const isTooLarge = error instanceof ServiceError && error.code === 'too_large';
    const failure = failureText(error, words);
    return (
      <Notice tone="look" icon="triangle-alert" role="alert" title={texts.notSaved(nameOf(saving.deviceID))}>
        {isTooLarge ? texts.tooLarge(fileMost / mebibyte) : `${failure.title}. ${failure.hint}`}
      </Notice>
    );
  }
  const { file, files, bytes, deviceID } = saving;
  const title = texts.saving(nameOf(deviceID), file, files);
  return (
    <div className="notice busy">
      <Icon name="download" />
      <div>
        <strong role="status">{title}</strong>
        <p className="row wrap">
          <progress aria-label={title} value={file - 1} max={files} />
          <span className="muted">{texts.received(numberText(bytes / mebibyte, 1))}</span>
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
            ...(table.rows.length === 0 ? ['table'] : []),
            ...(canSaveTracks ? [] : exportFormats),
          ]}
          onAction={(key) => {
            const format = exportFormats.find((one) => one === key);
            if (format === undefined) saveTable(table, words);
            else void begin(deviceIDs, table.period, format);
          }}
        >
          <MenuItem id="table" textValue={texts.saveTable}>
            {texts.saveTable}
          </MenuItem>
          <MenuSection>
            <Header>{canSaveTracks ? texts.saveTracks : texts.saveMost(filesMost)}</Header>
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

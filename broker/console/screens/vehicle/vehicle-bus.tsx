// The vehicle bus of one vehicle: each value with its unit, age and source, and the trouble codes in words. Grey: of before.

import { busWords } from '../../../../build/words/bus.ts';
import type { Device } from '../../api/operations.ts';
import { Age, amountText, numberText, withUnit } from '../../components/texts.tsx';
import { useNow, useWords } from '../../components/use.ts';
import type { Quantity } from '../../state/account/measures.ts';
import {
  type BusRow,
  busRows,
  spnNames,
  type TroubleCode,
  troubleCodesOf,
} from '../../state/vehicle/bus-view.ts';
import type { WordsWith } from '../../words/word-set.ts';

type Bus = NonNullable<Device['vehicleBus']>;

/** Counters and measurements of which a tenth says something. */
const decimals = 1;

/** A number in words of its unit; one that has none keeps the unit of the service. */
function measuredText(value: number, unit: string, words: WordsWith<[typeof busWords]>): string {
  const { units, bus: texts } = words;
  const quantities: Readonly<Record<string, Quantity>> = { 'km/h': 'kmh', km: 'km', L: 'litres' };
  const quantity = quantities[unit];
  if (quantity !== undefined) return amountText(value, quantity, words, decimals);
  if (unit === 'L/h') return texts.perHour({ amount: amountText(value, 'litres', words, decimals) });
  const known: Readonly<Record<string, string>> = {
    h: units.h,
    V: units.volts,
    '%': units.percent,
    '1/min': texts.rpm,
  };
  const number = numberText(value, decimals);
  return unit === '' ? number : withUnit(number, known[unit] ?? unit);
}

function valueText({ name, value: { value, unit } }: BusRow, words: WordsWith<[typeof busWords]>): string {
  const { bus: texts, common } = words;
  if (typeof value === 'boolean') return value ? texts.set : texts.released;
  if (typeof value === 'string')
    return value || (name === 'driverCard1' || name === 'driverCard2' ? texts.noCard : common.unknown);
  if (name === 'driver1State' || name === 'driver2State') {
    const states: Readonly<Record<number, string>> = texts.drivers;
    return states[value] ?? common.unknown;
  }
  return measuredText(value, unit, words);
}

const codeName = ({ spn, fmi }: TroubleCode): string => `SPN ${spn} FMI ${fmi}`;

/** What is wrong, by the names of SAE J1939-73 in words. */
function codeText({ spn, fmi }: TroubleCode, { bus: texts }: WordsWith<[typeof busWords]>): string {
  const failures: Readonly<Record<number, string>> = texts.failures;
  const name = spnNames[spn];
  return [...(name === undefined ? [] : [texts.names[name]]), failures[fmi] ?? texts.unknownFailure].join(
    ': ',
  );
}

function Codes({ bus }: { readonly bus: Bus }) {
  const words = useWords(busWords);
  const { bus: texts } = words;
  const found = troubleCodesOf(bus, useNow());
  return (
    <>
      <h3>{texts.codes}</h3>
      {found === null ? (
        <p className="muted">{texts.codesUnknown}</p>
      ) : (
        <div className={found.isStale ? 'stack stale' : 'stack'}>
          {found.codes.length === 0 ? (
            <p className="muted">{texts.noCodes}</p>
          ) : (
            <ul className="stack" aria-label={texts.codes}>
              {found.codes.map((code) => (
                <li key={codeName(code)}>
                  <bdi className="mono">{codeName(code)}</bdi> {codeText(code, words)}
                </li>
              ))}
            </ul>
          )}
          <span className="faint">
            <bdi>{found.value.source}</bdi> · <Age at={found.value.timestamp} />
          </span>
        </div>
      )}
    </>
  );
}

export function VehicleBus({ bus }: { readonly bus: Bus }) {
  const words = useWords(busWords);
  const { bus: texts } = words;
  const rows = busRows(bus, useNow());
  return (
    <section className="card" aria-labelledby="bus-title">
      <header>
        <h2 id="bus-title">{texts.title}</h2>
      </header>
      <div className="card-body stack">
        <p className="faint">{texts.hint}</p>
        <table className="evidence">
          <caption className="hidden">{texts.title}</caption>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name} {...(row.isStale ? { className: 'stale' } : {})}>
                <th scope="row">
                  {texts.names[row.name]}
                  <br />
                  <bdi className="faint">{row.value.source}</bdi>
                </th>
                <td>
                  <bdi>{valueText(row, words)}</bdi>
                  <br />
                  <span className="faint">
                    <Age at={row.value.timestamp} />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <Codes bus={bus} />
      </div>
    </section>
  );
}

// What the vehicle judged, rule by rule: always the same rows in the same order. It is not announced on each change; the sentence above
// it is.

import { cutWords } from '../../../../build/words/cut.ts';
import type { Verdict } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { Age, timeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { type Evidence, evidenceOf, neededOf } from '../../state/evidence.ts';
import type { Relay } from '../../state/orders/cut-view.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { metText, unmetText } from './verdict-words.ts';

const marks = {
  met: ['circle-check', 'tick'],
  unmet: ['circle-x', 'cross'],
  unknown: ['circle-help', 'unknown'],
} as const;

interface Judged {
  readonly relay: Relay;
  /** Null: the vehicle has not judged. */
  readonly verdict: Verdict | null;
}

function needText(
  row: Evidence['row'],
  { verdict, relay }: Judged,
  { order: { needs }, orders }: WordsWith<[typeof cutWords]>,
): string | null {
  const rules = {
    ignition: 'ignition_off_s',
    standstill: 'standstill_s',
    position: 'position_trusted_s',
    witnesses: 'witnesses',
  } as const;
  if (row === 'movement') return orders[relay].needMovement;
  if (row === 'time' || row === 'relay') return needs[row];
  if (row === 'other') return null;
  const needed = neededOf(verdict, rules[row]);
  return needed === null ? null : needs[row]({ seconds: needed, count: needed });
}

function Row({ evidence, verdict, relay }: Judged & { readonly evidence: Evidence }) {
  const words = useWords(cutWords);
  const { order: texts } = words;
  const { row, result, findings } = evidence;
  const [icon, tone] = marks[result];
  const need = needText(row, { verdict, relay }, words);
  const sinceMs = findings[0]?.sinceMs ?? null;
  return (
    <tr className={result === 'unmet' ? 'no-value' : undefined}>
      <td className={tone}>
        <Icon name={icon} label={texts.results[result]} />
      </td>
      <th scope="row">
        <span>{texts.rows[row]}</span>
        {need === null ? null : (
          <span className="need">
            <bdi>{need}</bdi>
          </span>
        )}
      </th>
      <td>
        {result === 'unmet' ? (
          findings
            .filter(({ isMet }) => !isMet)
            .map((finding) => (
              <span className="value" key={finding.rule}>
                <bdi>{unmetText(finding, words)}</bdi>
              </span>
            ))
        ) : (
          <span className="value">
            <bdi>
              {result === 'unknown'
                ? texts.notJudged
                : findings.length === 0
                  ? texts.byGnss
                  : metText(row, findings, words)}
            </bdi>
          </span>
        )}
        {sinceMs === null ? null : (
          <span className="since">
            <bdi>{texts.sinceTime({ time: timeText(sinceMs / 1000) })}</bdi>
          </span>
        )}
      </td>
    </tr>
  );
}

interface EvidenceTableProps extends Judged {
  readonly caption: string;
}

export function EvidenceTable({ relay, verdict, caption }: EvidenceTableProps) {
  const { order: texts } = useWords(cutWords);
  return (
    <table className="evidence rules" aria-live="off">
      <caption>
        <span className="row">
          {caption}
          {verdict === null ? null : (
            <span className="push faint">
              <Age at={verdict.at} />
            </span>
          )}
        </span>
      </caption>
      <thead className="hidden">
        <tr>
          <th scope="col">{texts.result}</th>
          <th scope="col">{texts.proofNeeded}</th>
          <th scope="col">{texts.valueNow}</th>
        </tr>
      </thead>
      <tbody>
        {evidenceOf(verdict, relay).map((evidence) => (
          <Row key={evidence.row} evidence={evidence} verdict={verdict} relay={relay} />
        ))}
      </tbody>
    </table>
  );
}

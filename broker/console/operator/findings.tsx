// What has passed a limit, worst first: what it is, the value with its limit, and what to do.

import type { OperatorPageTexts } from '../../../build/words/operatorPage/en.ts';
import type { StatusView } from '../api/operations.ts';
import { Level, Note, useValues } from './values.tsx';
import { useTexts, wordOf } from './words.ts';

type Finding = StatusView['findings'][number];

/** What it is about in words, where it is a name of ours. */
function subjectOf({ code, subject }: Finding, texts: OperatorPageTexts): string {
  if (code === 'queue_old') return wordOf(texts.queues, subject);
  if (code === 'figures_old') return wordOf(texts.groups, subject);
  if (code === 'devices_refused') return wordOf(texts.refusals, subject);
  if (code === 'not_ready') return wordOf(texts.checks, subject);
  return code === 'lease_silent' ? wordOf(texts.works, subject) : subject;
}

function useQuantity() {
  const { count, size, span, days, percent } = useValues();
  return (value: number, unit: Finding['unit']): string => {
    if (unit === 'B') return size(value);
    if (unit === 's') return span(value);
    if (unit === 'd') return days(value);
    return unit === '%' ? percent(value) : count(value);
  };
}

/** In the words of the service: why something is not ready, or failed. */
function reasonOf(view: StatusView, { code, subject }: Finding): string {
  if (code === 'not_ready') return view.service.checks.find(({ name }) => name === subject)?.fault ?? '';
  return code === 'backup_failed' ? subject : '';
}

/** @param isOld the view is not current: that nothing was wrong then says nothing of now. */
export function Findings({ view, isOld }: { readonly view: StatusView; readonly isOld: boolean }) {
  const texts = useTexts();
  const quantity = useQuantity();
  if (view.findings.length === 0) return <Note>{isOld ? texts.links.old : texts.nothing}</Note>;
  return (
    <ul className="findings">
      {view.findings.map((finding) => {
        const { code, level, subject, value, limit, unit } = finding;
        const reason = reasonOf(view, finding);
        const title = texts.titles[code];
        return (
          <li key={`${code} ${subject}`} className={`finding ${level}`} data-code={code}>
            <Level level={level} />
            <div>
              <h3>{typeof title === 'string' ? title : title({ what: subjectOf(finding, texts) })}</h3>
              {unit === 'none' || code === 'backup_missing' ? null : (
                <p>
                  <strong>{quantity(value, unit)}</strong>
                  {limit === 0 ? null : ` · ${texts.limit({ value: quantity(limit, unit) })}`}
                </p>
              )}
              {reason === '' ? null : (
                <p>
                  <bdi lang="en">{reason}</bdi>
                </p>
              )}
              <p className="muted">{texts.todos[code]}</p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}

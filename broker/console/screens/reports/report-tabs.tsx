// The two pages of reports: the report that is read now, and those that are mailed.
import { Link } from '@tanstack/react-router';
import { reportWords } from '../../../../build/words/report.ts';
import { useWords } from '../../components/use.ts';

export function ReportTabs() {
  const { reports: texts } = useWords(reportWords);
  return (
    <nav className="tabs page-tabs not-printed" aria-label={texts.pages.label}>
      <Link to="/reports" activeOptions={{ exact: true }}>
        {texts.pages.report}
      </Link>
      <Link to="/reports/mail">{texts.pages.mail}</Link>
    </nav>
  );
}

// The two pages of reports: the report that is read now, and those that are mailed.
import { Link } from '@tanstack/react-router';
import { useWords } from '../../components/use.ts';
import { reportWords } from '../../words/reports/words.ts';

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

// The audit log.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { screen, shellRoute } from '../../shell/screen.ts';
import { type AuditSearch, actionOf } from '../../state/account/audit-view.ts';
import { epoch, searchOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

const search: (given: Readonly<Record<string, unknown>>) => AuditSearch = searchOf({
  actor: text,
  action: (value) => actionOf(text(value)),
  object: text,
  from: epoch,
  to: epoch,
});

const log = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: search,
  component: lazyRouteComponent(() => withWords(import('./audit.tsx')), 'AuditScreen'),
});

export const auditScreen = screen({
  routes: [log],
  links: [{ to: '/audit', icon: 'shield-check', key: 'x', condition: 'admin' }],
});

// Begins the console: language, then the router.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { useWords } from './components/use.ts';
import { router } from './router.tsx';
import { takeFirst } from './service/arrival.ts';
import { ServiceError } from './service/call.ts';
import { readAgainWhenBack } from './service/live.ts';
import { joinTabs, onUserChange, session } from './service/session.ts';
import { keepFocus } from './shell/kept-focus.ts';
import { beginMeasures } from './words/chosen-measures.ts';
import { beginLanguage } from './words/language.ts';
import './styles/tokens.css';
import './styles/parts.css';
import './styles/console.css';
import './styles/cut.css';
import './styles/administration.css';
import './styles/reports.css';

// Before the router reads the address.
takeFirst();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      refetchOnWindowFocus: true,
      retry: (count, thrown) =>
        count < 2 && !(thrown instanceof ServiceError && thrown.status >= 400 && thrown.status < 500),
    },
    // What was pressed is sent now or fails: none waits in the page until a network is there.
    mutations: { networkMode: 'always' },
  },
});

readAgainWhenBack(queries);

// Answers belong to the user that asked.
onUserChange(() => {
  queries.clear();
  if (session.get() === null) void router.invalidate();
});

function Console() {
  const { locale } = useWords();
  return (
    <I18nProvider locale={locale}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </I18nProvider>
  );
}

keepFocus();
beginMeasures();

const place = document.querySelector('#root');
const [, path] = /^\/console\/(login|wallboard)/.exec(location.pathname) ?? [];
// A television has a token of its own. A link to the login may bring a login of its own.
const joined = path === 'wallboard' ? Promise.resolve() : joinTabs(path !== 'login');
if (place !== null) {
  void Promise.allSettled([joined, beginLanguage()]).then(() =>
    createRoot(place).render(
      <StrictMode>
        <Console />
      </StrictMode>,
    ),
  );
}

// Rules of notification and their deliveries.
import { address, screen } from '../../shell/screen.ts';
import { deliveryFilters, ruleDialogs, ruleLists } from '../../state/rules/rule-address.ts';
import { oneOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

const list = address(
  '/rules',
  { list: oneOf(ruleLists), rule: text, state: oneOf(deliveryFilters), open: oneOf(ruleDialogs) },
  () => withWords(import('./rules.tsx')),
  'RulesScreen',
);

export const rulesScreen = screen({
  routes: [list],
  links: [{ to: '/rules', icon: 'bell-ring', key: 'n' }],
});

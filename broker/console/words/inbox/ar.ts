// The inbox in Arabic.
import { type Forms, isolated, many, n } from '../base/arabic.ts';
import type { InboxTexts } from './en.ts';

const shown: Forms = { one: 'إشعار واحد', two: 'إشعاران', few: 'إشعارات', many: 'إشعارًا' };

export const inboxTexts: InboxTexts = {
  inbox: {
    title: 'الوارد',
    go: 'إلى الوارد',
    count: (count, hasMore) => `، لم تره: ${n(count)}${hasMore ? ' أو أكثر' : ''}`,
    filter: 'تصفية بحسب ما رأيته',
    filters: { all: 'الكل', unviewed: 'لم تره' },
    only: (vehicle) => `${isolated(vehicle)} فقط`,
    every: 'أظهر كل المركبات',
    caption: 'الإشعارات، الأحدث أولًا',
    columns: { what: 'ماذا', vehicle: 'المركبة', when: 'متى', state: 'الحالة' },
    empty: 'لا شيء هنا بعد',
    emptyHint: 'تظهر هنا تنبيهات المركبات التي تراها وما ترسله إليك القواعد، وتبقى 90 يومًا',
    allViewed: 'رأيت كل شيء',
    account: (user) => `إشعار الحساب عن ${isolated(user)}`,
    late: 'وصل متأخرًا',
    fresh: 'لم تره',
    viewed: 'رأيته',
    mark: 'علّمه كمرئي',
    markOf: (what, vehicle) => `علّمه كمرئي: ${what}، ${isolated(vehicle)}`,
    markAll: 'علّم الكل كمرئي',
    marked: 'عُلّم الكل كمرئي',
    alarm: 'افتح الإنذار',
    older: 'أظهر الأقدم',
    shown: (count) => `المعروض: ${many(count, shown)}`,
  },
};

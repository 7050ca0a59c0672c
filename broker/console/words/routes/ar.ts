// The routes in Arabic.
import { type Forms, isolated, many } from '../base/arabic.ts';
import type { RouteTexts } from './en.ts';

const vehicles: Forms = { one: 'مركبة واحدة', two: 'مركبتان', few: 'مركبات', many: 'مركبة' };

export const routeTexts: RouteTexts = {
  routes: {
    list: 'المسارات بحسب الاسم',
    find: 'ابحث عن مسار في القائمة',
    new: 'مسار جديد',
    map: 'خريطة المسارات؛ القائمة بجانبها تحوي الشيء نفسه',
    fit: 'أظهر المسار',
    empty: 'لا مسارات بعد',
    emptyHint: 'ارسم الأول: الطريق الذي على المركبات أن تسلكه',
    noMatch: 'لا مسار مطابق',
    missing: (name) => `لا يوجد مسار ${isolated(name)}`,
    selected: (name) => `المسار المختار: ${isolated(name)}`,
    length: 'الطول',
    planned: 'مخطط لـ',
    plannedNone: 'ليس مخططًا لأي مركبة',
    plannedHint:
      'يُحكم بشيفرة المركبات من آخر موقع لكل منها. لا تحمل المركبات المسارات: لا يحدث شيء عندما تترك إحداها مسارها',
    vehicles: (count) => many(count, vehicles),
    keeps: { on: 'على المسار', off: 'خارج المسار', unknown: 'لا موقع' },
    removeHint: 'يُحذف لكل مركبة خُطط لها. لا يمكن التراجع',
    viewer: 'يغيّر المسارات المشغّلون والمدراء الذين يرون كل مركبات المسار',
    newTitle: 'ارسم مسارًا',
    idTaken: 'لمسار آخر هذا المعرّف',
    full: 'للمسار 100 نقطة على الأكثر. انقل واحدة أو أزلها',
    most: (count) => `يسمّي المسار ${count} مركبة على الأكثر`,
    save: 'احفظ المسار',
  },
};

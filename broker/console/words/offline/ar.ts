// The page without network in Arabic.
import { type Forms, isolated, many, n } from '../base/arabic.ts';
import type { OfflineTexts } from './en.ts';

const vehicles: Forms = { one: 'مركبة واحدة', two: 'مركبتان', few: 'مركبات', many: 'مركبة' };

export const offlineTexts: OfflineTexts = {
  offline: {
    title: 'بلا شبكة',
    asOf: (time) => `بلا شبكة، كما كان عند ${isolated(time)}`,
    ageUnknown: 'العمر غير معروف: أُرجعت ساعة هذا الجهاز إلى الوراء',
    again: 'الخدمة لا تجيب. تُعاد المحاولة تلقائيًا',
    asking: 'جارٍ سؤال الخدمة',
    tryNow: 'حاول الآن',
    remove: 'أزل الصورة من هذا الجهاز',
    none: 'لا توجد صورة للأسطول يجوز عرضها',
    noneHint:
      'لا صورة محفوظة لك على هذا الجهاز، أو مضى عليها أكثر من 24 ساعة، أو سجّل مستخدم آخر الدخول بعدها. ويُختار حفظها في صفحة الحساب والتفضيلات',
    noCommands: 'هذه آخر صورة محفوظة. لا يمكن طلب شيء من أي مركبة من هنا، ولا حتى الإعادة',
    vehicles: (count) => many(count, vehicles),
    noVehicles: 'لا مركبات في الصورة',
    shown: (shown, all) => `حُفظت ${n(shown)} الأكثر إلحاحًا من ${n(all)}`,
    was: {
      moving: 'كانت تسير',
      standing: 'كانت واقفة',
      unknown: 'كانت السرعة غير معروفة',
      offline: 'كانت غير متصلة',
      doubtful: 'كان الموقع مشكوكًا فيه',
    },
    map: 'خريطة آخر صورة؛ والقائمة أسفلها تحوي الشيء نفسه',
    noMap: 'تحتاج الخريطة إلى WebGL الذي لا يوفره هذا المتصفح. والقائمة تحوي الشيء نفسه',
    zoomIn: 'تكبير',
    zoomOut: 'تصغير',
    fit: 'اعرض كل المركبات',
  },
};

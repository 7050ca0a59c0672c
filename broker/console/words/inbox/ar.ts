// The inbox in Arabic.
import { type Forms, isolated, many } from '../base/arabic.ts';
import type { InboxTexts } from './en.ts';

const shown: Forms = { one: 'إشعار واحد', two: 'إشعاران', few: 'إشعارات', many: 'إشعارًا' };

export const inboxTexts: InboxTexts = {
  inbox: {
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
    lateAlarms: 'إنذارات متأخرة',
    fresh: 'لم تره',
    viewed: 'رأيته',
    mark: 'علّمه كمرئي',
    markOf: (what, vehicle) => `علّمه كمرئي: ${what}، ${isolated(vehicle)}`,
    markAll: 'علّم الكل كمرئي',
    marked: 'عُلّم الكل كمرئي',
    alarm: 'افتح الإنذار',
    older: 'أظهر الأقدم',
    shown: (count) => `المعروض: ${many(count, shown)}`,
    fromVehicles: {
      title: 'رسائل المركبات',
      none: 'لا رسائل غير مقروءة من المركبات',
      hint: 'ما ترسله وحدات مركباتك نصًا يظهر هنا 30 يومًا',
      own: 'لك وحدك، ومن كل المركبات',
      read: 'علّم هذه كمقروءة',
    },
    push: {
      title: 'إشعارات هذا المتصفح',
      text: 'تنبّهك هنا القواعد ذات الدفع، حتى إن أُغلقت لوحة التحكم أو سجّلت الخروج',
      states: {
        insecure: 'غير متاحة: تحتاج الإشعارات إلى HTTPS',
        unsupported: 'لا يوفّرها هذا المتصفح',
        refused: 'مرفوضة لهذا الموقع في إعدادات المتصفح. اسمح بها هناك أولًا',
        off: 'متوقفة في هذا المتصفح',
        on: 'مفعّلة في هذا المتصفح',
        other: 'مفعّلة في هذا المتصفح لمستخدم آخر',
      },
      faults: {
        refused: 'لم يُسمح للمتصفح بالإشعار',
        no_service: 'لم يصل المتصفح إلى خدمة الدفع',
        undeliverable: 'لا تستطيع الخدمة الإرسال إلى هذا المتصفح',
      },
      switchOn: 'فعّلها في هذا المتصفح',
      switchOff: 'أوقفها في هذا المتصفح',
      failed: 'لم يتغير شيء',
    },
  },
};

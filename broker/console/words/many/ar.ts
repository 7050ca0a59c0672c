// Many alarms and many vehicles at once, in Arabic.
import { type Forms, isolated, many, n } from '../base/arabic.ts';
import type { ManyTexts } from './en.ts';

const forms: Forms = { one: 'إنذار واحد', two: 'إنذاران', few: 'إنذارات', many: 'إنذارًا' };
const alarms = (count: number): string => many(count, forms);
const vehicleForms: Forms = { one: 'مركبة واحدة', two: 'مركبتان', few: 'مركبات', many: 'مركبة' };
const vehicles = (count: number): string => many(count, vehicleForms);

export const manyTexts: ManyTexts = {
  many: {
    pick: (alarm, vehicle) => `اختر ${alarm} للمركبة ${isolated(vehicle)}`,
    picked: (count, most) => `اختير ${n(count)} من ${n(most)} على الأكثر`,
    all: 'اختر كل المعروض',
    none: 'لا تختر شيئًا',
    dismiss: 'أغلق النتائج',
    results: 'النتائج',
    alarms: {
      take: (count) => `تولَّ: ${alarms(count)}`,
      assignTitle: (count) => `الإسناد: ${alarms(count)}`,
      assignText:
        'يتولاها المستخدم من الآن. يمكن إسناد الإنذارات الجديدة وإنذاراتك؛ ويسند المدير أي إنذار متولّى',
      assignAction: (count, user) => `أسند إلى ${isolated(user)}: ${alarms(count)}`,
      user: 'المستخدم',
      userHint: 'مشغّل أو مدير يرى المركبات',
      chooseUser: 'اختر مستخدمًا',
      close: (count) => `أغلق: ${alarms(count)}`,
      done: {
        take: (count) => `تم التولّي: ${alarms(count)}`,
        assign: (count) => `تم الإسناد: ${alarms(count)}`,
        close: (count) => `تم الإغلاق: ${alarms(count)}`,
      },
      failed: (count) => `دون تغيير: ${alarms(count)}`,
    },
    commands: {
      restore: (count) => `أعد المحرك: ${vehicles(count)}`,
      lock: (count) => `أقفل الحمولة: ${vehicles(count)}`,
      cut: (count) => `اقطع المحرك: ${vehicles(count)}`,
      done: {
        restore: (count) => `طُلبت الإعادة: ${vehicles(count)}`,
        lock: (count) => `طُلب الإقفال: ${vehicles(count)}`,
        cut: (count) => `طُلب القطع: ${vehicles(count)}`,
      },
      failed: (count) => `لم يُرسل أمر: ${vehicles(count)}`,
      follow: 'تابع',
      evidence: (vehicle) => `ما حكمت به ${isolated(vehicle)}`,
      meant: (vehicle) => `المقصودة هي ${isolated(vehicle)}`,
      meantMissing: 'علّم كل مركبة مقصودة وأخرج غيرها',
      takeOut: (vehicle) => `أخرج ${isolated(vehicle)}`,
      tooMany: (most) => `في الطلب الواحد ${n(most)} محركات على الأكثر. أخرج بعضها`,
      overLimit: (left) => `لم يبق في هذه الساعة إلا ${n(left)} من عمليات القطع. أخرج بعضها`,
      gone: 'لم تعد هذه المركبة موجودة',
      notYours: 'لا يحق لك أن تأمر هذه المركبة',
      button: (count) => `اقطع المحرك عند الوقوف: ${vehicles(count)}`,
    },
  },
};

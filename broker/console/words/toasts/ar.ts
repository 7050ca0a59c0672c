// Toasts in Arabic.
import { type Forms, isolated, many } from '../base/arabic.ts';
import type { ToastTexts } from './en.ts';

const further: Forms = {
  one: 'إنذار جديد آخر',
  two: 'إنذاران جديدان آخران',
  few: 'إنذارات جديدة أخرى',
  many: 'إنذارًا جديدًا آخر',
};

export const toastTexts: ToastTexts = {
  toasts: {
    back: 'عاد الاتصال',
    backHint: 'ما تراه مباشر من جديد',
    more: (count) => `و${many(count, further)}`,
    toAlarm: 'اعرض الإنذار',
    safe: {
      enginecutoff: {
        done: (vehicle) => `أُعيد محرك ${isolated(vehicle)}`,
        doneHint: 'قُرئ المُرحِّل مغلقًا',
        notDone: (vehicle) => `لم تنجح إعادة محرك ${isolated(vehicle)}`,
      },
      cargoaccess: {
        done: (vehicle) => `أُقفلت حمولة ${isolated(vehicle)}`,
        doneHint: 'قُرئ القفل مغلقًا',
        notDone: (vehicle) => `لم ينجح إقفال حمولة ${isolated(vehicle)}`,
      },
    },
    ends: {
      enginecutoff: {
        confirmed: (vehicle) => `قُطع محرك ${isolated(vehicle)}`,
        refused: (vehicle) => `رُفض قطع محرك ${isolated(vehicle)}`,
        expired: (vehicle) => `انتهت مهلة قطع محرك ${isolated(vehicle)}`,
        unknown: (vehicle) => `نتيجة قطع محرك ${isolated(vehicle)} غير معروفة`,
      },
      cargoaccess: {
        confirmed: (vehicle) => `فُتح قفل حمولة ${isolated(vehicle)}`,
        refused: (vehicle) => `رُفض فتح قفل حمولة ${isolated(vehicle)}`,
        expired: (vehicle) => `انتهت مهلة فتح قفل حمولة ${isolated(vehicle)}`,
        unknown: (vehicle) => `نتيجة فتح قفل حمولة ${isolated(vehicle)} غير معروفة`,
      },
    },
    endHints: {
      confirmed: 'قرأت المركبة حالة مُرحِّلها',
      refused: 'افتح الأمر لترى السبب',
      expired: 'لم يُنفذ شيء، ولا يتكرر شيء من تلقاء نفسه',
      unknown: 'انظر ما تبلّغ عنه المركبة',
    },
    toOrder: 'اعرض الأمر',
    notDoneHint: 'افتح المركبة لترى السبب وما يجب فعله',
    toVehicle: 'افتح المركبة',
  },
};

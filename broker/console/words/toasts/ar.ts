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
    restored: (vehicle) => `أُعيد محرك ${isolated(vehicle)}`,
    restoredHint: 'قُرئ المُرحِّل مغلقًا',
    notRestored: (vehicle) => `لم تنجح إعادة محرك ${isolated(vehicle)}`,
    notRestoredHint: 'افتح المركبة لترى السبب وما يجب فعله',
    toVehicle: 'افتح المركبة',
  },
};

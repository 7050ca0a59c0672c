// Shared by the first load and several screens, in Arabic: names of the pages, deliveries, the way to a cut.
import { isolated, n } from '../base/arabic.ts';
import type { SharedTexts } from './en.ts';

export const sharedTexts: SharedTexts = {
  pages: {
    inbox: {
      title: 'الوارد',
      go: 'إلى الوارد',
      count: (count, hasMore) => `، لم تره: ${n(count)}${hasMore ? ' أو أكثر' : ''}`,
    },
    zones: { title: 'المناطق', go: 'إلى المناطق' },
    routes: { title: 'المسارات', go: 'إلى المسارات' },
    reports: { title: 'التقارير', go: 'إلى التقارير' },
    devices: { title: 'الأجهزة', go: 'إلى الأجهزة' },
    settings: { title: 'الإعدادات', go: 'إلى إعدادات كل المركبات' },
    people: { title: 'الأشخاص', go: 'إلى الأشخاص' },
    rules: { title: 'القواعد وعمليات التسليم', short: 'القواعد', go: 'إلى القواعد' },
    releases: { title: 'إصدارات البرنامج', short: 'الإصدارات', go: 'إلى إصدارات البرنامج' },
    audit: { title: 'التدقيق', go: 'إلى سجل التدقيق' },
    shares: { title: 'المشاركات', go: 'إلى المشاركات' },
    practice: { title: 'أسطول التدريب', short: 'تدريب', go: 'إلى أسطول التدريب' },
    wallboard: { go: 'فتح لوحة الحائط' },
    account: { title: 'الحساب والتفضيلات', go: 'إلى الحساب والتفضيلات' },
    approvals: {
      title: 'الموافقات',
      go: 'إلى الموافقات',
      count: (count) => `، ${n(count)} في انتظارك`,
      announce: (vehicle, user) => `يطلب ${isolated(user)} قطع محرك ${isolated(vehicle)}`,
    },
  },
  deliveries: {
    title: 'عمليات التسليم',
    none: 'لا تسليم مسجّل بالبريد الإلكتروني أو الإشعار الفوري أو Webhook. تُحفظ عمليات التسليم 30 يومًا',
    viewer: 'يرى المشغّلون والمديرون إلى من أُرسلت',
    channels: { webhook: 'Webhook', email: 'بريد إلكتروني', push: 'إشعار فوري' },
    states: { sent: 'سُلّم', pending: 'ينتظر', dead: 'تُركت المحاولة' },
    after: (span) => `بعد ${span}`,
  },
  relays: {
    enginecutoff: {
      name: 'قطع المحرك',
      states: { 0: 'غير مقطوع', 1: 'مقطوع' },
      safe: 'أعد المحرك',
      safeFailed: 'لم تُطلب إعادة المحرك',
      open: 'اقطع المحرك…',
      watch: 'تابع القطع',
      off: 'القطع غير متاح: لا أدلة مباشرة لدى لوحة التحكم',
      title: (vehicle) => `قطع المحرك · ${isolated(vehicle)}`,
    },
    cargoaccess: {
      name: 'قفل الحمولة',
      states: { 0: 'مُقفل', 1: 'مفتوح' },
      safe: 'أقفل الحمولة',
      safeFailed: 'لم يُطلب إقفال الحمولة',
      open: 'افتح قفل الحمولة…',
      watch: 'تابع فتح القفل',
      off: 'فتح القفل غير متاح: لا أدلة مباشرة لدى لوحة التحكم',
      title: (vehicle) => `فتح قفل الحمولة · ${isolated(vehicle)}`,
    },
  },
  keys: { restore: 'انتقل إلى إعادة محرك المركبة المعروضة', middle: 'على الخريطة: افتح ما في وسطها' },
};

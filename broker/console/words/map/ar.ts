// Base maps and places with several vehicles, in Arabic.
import { type Forms, isolated, many, n } from '../base/arabic.ts';
import type { MapTexts } from './en.ts';

const vehicles: Forms = { one: 'مركبة واحدة', two: 'مركبتان', few: 'مركبات', many: 'مركبة' };
const alarms: Forms = { one: 'إنذار واحد', two: 'إنذاران', few: 'إنذارات', many: 'إنذارًا' };

export const mapTexts: MapTexts = {
  baseMap: {
    choose: 'خريطة الأساس',
    world: 'العالم، مدمجة',
    style: (host) => `خريطة ${isolated(host)}`,
    osm: '© مساهمو OpenStreetMap (ODbL)',
    worldInstead: 'تُعرض خريطة العالم المدمجة بدلًا منها.',
    restDrawn: `رُسمت بقية الخريطة. يمكن لمدير الخدمة السماح بالمضيف (${isolated('mapStyle.origins')}).`,
    faults: {
      gone: (name) =>
        name === '' ? 'لم تعد الخدمة تقدّم هذه الخريطة' : `لم يعد لدى الخدمة ملف الخريطة ${isolated(name)}`,
      truncated: (name) => `ملف الخريطة ${isolated(name)} غير كامل. انسخه إلى الخدمة من جديد`,
      'not-pmtiles': (name) => `ملف الخريطة ${isolated(name)} ليس ملف PMTiles من الإصدار 3`,
      'not-vector': (name) => `ملف الخريطة ${isolated(name)} يحوي صورًا أو بلاطات مضغوطة بغير gzip`,
      'not-base-map': (name) => `ملف الخريطة ${isolated(name)} ليس خريطة أساس من Protomaps بالإصدار 4`,
      unreachable: (name) => `تتعذّر قراءة الخريطة ${isolated(name)}`,
      'bad-style': (name) => `ما يقدّمه ${isolated(name)} ليس نمط خريطة يمكن رسمه`,
      host: (name) => `يقع جزء من الخريطة لدى ${isolated(name)}، وهو غير مسموح به`,
    },
  },
  here: {
    title: (count) => `${many(count, vehicles)} في هذا المكان`,
    none: 'لم تعد في هذا المكان أي مركبة',
    list: 'المركبات في هذا المكان، الأشد أولًا',
    more: (count) => `و${n(count)} غيرها؛ ابحث عنها في قائمة المركبات`,
  },
  live: {
    title: 'الخريطة المباشرة',
    vehicles: 'المركبات',
    worstFirst: 'الأخطر أولًا',
    filter: 'تصفية حسب الحالة',
    filters: {
      all: 'الكل',
      alarm: 'إنذار',
      moving: 'تسير',
      standing: 'واقفة',
      unknown: 'السرعة غير معروفة',
      offline: 'غير متصلة',
      doubtful: 'مشكوك فيها',
    },
    find: 'ابحث عن مركبة في القائمة',
    list: 'المركبات، الأخطر أولًا',
    map: 'خريطة المركبات؛ القائمة بجانبها تعرض الشيء نفسه',
    zones: 'المناطق الجغرافية',
    empty: 'لا مركبات بعد',
    emptyHint: 'ينشئ مدير رمز تسجيل؛ اكتبه عند أول مركبة',
    noMatch: 'لا مركبة تطابق',
    noMatchHint: 'امسح التصفية لترى الكل',
    clear: 'امسح التصفية',
    noWebgl: 'تحتاج الخريطة إلى WebGL وهذا المتصفح لا يوفره. القائمة تعرض الشيء نفسه',
    zoomIn: 'تكبير',
    zoomOut: 'تصغير',
    fit: 'اعرض كل المركبات',
    rings: {
      act: 'إنذار دون مسؤول',
      'act-taken': 'إنذار له مسؤول',
      look: 'إنذار منخفض',
    },
    credit: 'Natural Earth, © GeoNames',
    cluster: (count, open) =>
      open === 0 ? many(count, vehicles) : `${many(open, alarms)}، ${many(count, vehicles)}`,
    shown: (shown, all) => `${n(shown)} من ${n(all)}`,
  },
};

// The page of a share link in Arabic.
import { isolated, locale } from '../base/arabic.ts';
import type { SharePageTexts } from './en.ts';

export const sharePageTexts: SharePageTexts = {
  locale,
  titles: { live: 'مركبة مُشارَكة', trip: 'رحلة مُشارَكة', none: 'رابط مشاركة' },
  until: (time) => `مُشارَك حتى ${isolated(time)}`,
  loading: 'جارٍ التحميل',
  link: { opening: 'جارٍ الاتصال', live: 'مباشر', down: 'غير مباشر' },
  downHint: (span) => `ما تراه عمره ${isolated(span)}. جارٍ الاتصال من جديد`,
  faults: {
    busy: 'هذا الرابط مفتوح مرات كثيرة جدًا، أو الخدمة مشغولة',
    unreachable: 'الخدمة لا تجيب',
  },
  faultHint: 'تُعاد المحاولة تلقائيًا',
  ends: {
    incomplete: 'هذا الرابط غير كامل',
    unknown: 'هذا الرابط لا يعرض شيئًا',
    expired: 'انتهت صلاحية هذا الرابط',
    revoked: 'أُنهيت المشاركة',
  },
  endHints: {
    incomplete: 'افتحه بجميع حروفه كما أُرسل إليك',
    unknown: 'انتهت صلاحيته أو أُنهي أو ليس صحيحًا. اسأل من أرسله إليك',
    expired: 'اطلب رابطًا جديدًا ممن أرسله إليك',
    revoked: 'أُنهيت قبل موعدها. اسأل من أرسل إليك الرابط',
  },
  speed: 'السرعة',
  speedUnknown: 'غير معروفة',
  place: 'الموقع',
  reported: 'آخر بلاغ',
  noPosition: 'لا موقع بعد',
  noPositionHint: 'يظهر هنا عندما تبلغ المركبة عن موقع',
  way: 'الخط هو الطريق منذ فتحت هذه الصفحة',
  from: 'من',
  to: 'إلى',
  distance: 'المسافة',
  noWay: 'لم يُسجَّل أي موقع في هذا الوقت',
  map: 'خريطة؛ القيم في هذه الصفحة تحوي الشيء نفسه',
  zoomIn: 'تكبير',
  zoomOut: 'تصغير',
  show: 'أظهر المركبة',
  fit: 'أظهر الرحلة كلها',
  noWebgl: 'تحتاج الخريطة إلى WebGL الذي لا يوفره هذا المتصفح. القيم في هذه الصفحة تحوي الشيء نفسه',
  only: 'ترى هذه المركبة ولا شيء غيرها',
  onlyTrip: 'ترى هذه الرحلة ولا شيء غيرها',
};

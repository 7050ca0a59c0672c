// The wallboard in Arabic.
import { type Forms, isolated, many } from '../base/arabic.ts';
import type { WallboardTexts } from './en.ts';

const openAlarms: Forms = {
  one: 'إنذار مفتوح واحد',
  two: 'إنذاران مفتوحان',
  few: 'إنذارات مفتوحة',
  many: 'إنذارًا مفتوحًا',
};
const shelvedAlarms: Forms = {
  one: 'إنذار واحد مؤجل',
  two: 'إنذاران مؤجلان',
  few: 'إنذارات مؤجلة',
  many: 'إنذارًا مؤجلًا',
};
const waitingOrders: Forms = {
  one: 'أمر واحد ينتظر',
  two: 'أمران ينتظران',
  few: 'أوامر تنتظر',
  many: 'أمرًا ينتظر',
};
const further: Forms = { one: 'واحد آخر', two: 'اثنان آخران', few: 'أخرى', many: 'أخرى' };

export const wallboardTexts: WallboardTexts = {
  wallboard: {
    title: 'لوحة الحائط',
    states: 'المركبات حسب الحالة',
    map: 'خريطة المركبات؛ والأرقام بجانبها تعدّ المركبات نفسها',
    noMap: 'تحتاج الخريطة إلى WebGL الذي لا يوفره هذا المتصفح',
    alarms: (count) => many(count, openAlarms),
    noAlarms: 'لا إنذارات مفتوحة',
    alarmsUnknown: 'الإنذارات المفتوحة: غير معروف',
    takenBy: (user) => `تولّاه ${isolated(user)}`,
    shelved: (count) => many(count, shelvedAlarms),
    orders: (count) => many(count, waitingOrders),
    noOrders: 'لا أمر ينتظر',
    ordersUnknown: 'الأوامر المنتظرة: غير معروف',
    more: (count) => `و${many(count, further)}`,
    opening: 'جارٍ الاتصال',
    down: (time, span) => `لا اتصال منذ ${isolated(time)} (${span})`,
    downHint: (time) => `ما تراه كما كان عند ${isolated(time)}. تُعاد المحاولة تلقائيًا`,
    noAnswer: (time, span) => `الخدمة لا تجيب منذ ${isolated(time)} (${span})`,
    noAnswerHint: 'تُعاد المحاولة تلقائيًا',
    ended: (time, span) => `لا وصول لهذه الشاشة منذ ${isolated(time)} (${span})`,
    endedHint: 'انتهى رمزها أو أُنهي. تُعاد المحاولة كل دقيقة، ويُعدّ رمز جديد في الأسفل',
    refused: 'هذا الرمز ليس للوحة حائط',
    expires: (span) => `ينتهي رمز هذه الشاشة بعد ${span}. أعدّ رمزًا جديدًا قبل ذلك`,
    mayGoDark: 'قد يطفئ هذا المتصفح الشاشة',
    setUp: 'إعداد هذه الشاشة',
  },
  wallboardSetup: {
    title: 'إعداد لوحة الحائط هذه',
    text: 'تحتاج لوحة الحائط إلى رمز API يجوز له أن يقرأ فقط. وهي لا تعرض أي أمر ولا أي تغيير.',
    steps: [
      'ينشئ المسؤول مستخدمًا للشاشات بدور مشاهد وبالمجموعات التي يجوز عرضها',
      'سجّل الدخول بهذا المستخدم، ثم أنشئ في صفحة الأشخاص، ضمن جلساتك ورموزك، رمزًا يجوز له القراءة فقط',
      'ألصقه هنا. يبقى في هذا المتصفح حتى يُزال هنا أو يُنهى في صفحة الأشخاص',
    ],
    token: 'رمز API',
    use: 'اعرض الأسطول بهذا الرمز',
    busy: 'جارٍ سؤال الخدمة',
    faults: {
      shape: 'هذا ليس رمز API كاملًا. انسخه كله',
      login: 'هذه جلسة شخص. أنشئ رمزًا يجوز له القراءة',
      scopes: 'يجوز لهذا الرمز أكثر من القراءة. أنشئ رمزًا يجوز له القراءة فقط',
      unknown: 'لا تقبل الخدمة هذا الرمز. ربما انتهى',
      unreachable: 'الخدمة لا تجيب. تحقق من الشبكة ثم حاول من جديد',
    },
    remove: 'أزل الرمز من هذا المتصفح',
    back: 'العودة إلى لوحة الحائط',
    language: 'اللغة',
    theme: 'السمة',
  },
};

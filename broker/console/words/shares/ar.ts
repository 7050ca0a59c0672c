// Shares in Arabic.
import { type Forms, isolated, many, n } from '../base/arabic.ts';
import type { ShareTexts } from './en.ts';

const openLinks: Forms = {
  one: 'رابط مفتوح واحد',
  two: 'رابطان مفتوحان',
  few: 'روابط مفتوحة',
  many: 'رابطًا مفتوحًا',
};

export const shareTexts: ShareTexts = {
  shares: {
    lead: 'روابط تعرض مركبة واحدة أو رحلة واحدة لأشخاص بلا حساب',
    share: 'مشاركة',
    titleLive: (name) => `مشاركة ${isolated(name)}`,
    titleTrip: (name) => `مشاركة رحلة من رحلات ${isolated(name)}`,
    liveText: (name) => `من لديه الرابط يرى أين ${isolated(name)}، ولا شيء آخر من الحساب`,
    tripText: 'من لديه الرابط يرى طريق هذه الرحلة، ولا شيء آخر من الحساب',
    what: 'ما يُشارَك',
    kinds: { live: 'الموقع مباشرة', trip: 'رحلة' },
    life: 'المدة',
    lives: { '1': 'ساعة واحدة', '4': '4 ساعات', '24': '24 ساعة', '72': '3 أيام', '168': '7 أيام' },
    endsAt: 'تنتهي',
    note: 'ملاحظة للشخص',
    noteHint: 'لا يعرض الرابط أسماء. اذكر من يشارك وماذا',
    endsToo: 'تنتهي أيضًا عندما لا يحق لك أن تشارك أو لا ترى المركبة بعد ذلك',
    ofVehicle: 'كل الروابط إلى هذه المركبة',
    make: 'أنشئ الرابط',
    link: 'الرابط',
    qr: 'رمز QR للرابط',
    openLinks: (count) => many(count, openLinks),
    tripOf: (time) => `شارك رحلة ${isolated(time)}`,
    all: 'الروابط إلى كل المركبات',
    of: (name) => `الروابط إلى ${isolated(name)}`,
    allVehicles: 'كل المركبات',
    filter: 'التصفية بحسب الحالة',
    filters: { open: 'مفتوحة', ended: 'منتهية', all: 'الكل' },
    caption: 'الروابط، الأحدث أولًا',
    columns: {
      share: 'رابط إلى',
      state: 'الحالة',
      made: 'أنشأها',
      until: 'حتى',
      used: 'فُتحت',
      action: 'الإجراء',
    },
    standings: { open: 'مفتوح', expired: 'انتهت مدته', revoked: 'أُلغي' },
    revoke: 'إلغاء',
    revokeOf: (name, note) =>
      note === ''
        ? `إلغاء الرابط إلى ${isolated(name)}`
        : `إلغاء الرابط إلى ${isolated(name)}: ${isolated(note)}`,
    revokeTitle: (name) => `إلغاء الرابط إلى ${isolated(name)}`,
    revokeText: 'لا يعرض شيئًا بعد ذلك، حتى حيث هو مفتوح. لا يمكن التراجع عنه',
    empty: { open: 'لا رابط مفتوح', ended: 'لم ينته رابط مؤخرًا', all: 'لا روابط بعد' },
    emptyHint: 'افتح مركبة واضغط مشاركة. تبقى الروابط المنتهية هنا 30 يومًا',
    newest: (most) => `تُعرض أحدث ${n(most)}`,
    viewer: 'يشارك المركبات المشغلون والمديرون',
    viewerHint: 'اسأل أحدهم في حسابك',
  },
};

// Mails with reports in Arabic, with western digits as in the console. Names and addresses are kept together (U+2068, U+2069).
import type { MailWords } from './en.ts';

const isolated = (text: string): string => `\u2068${text}\u2069`;

export const mailWords: MailWords = {
  locale: 'ar-u-nu-latn',
  test: 'تجربة',
  account: 'الحساب',
  period: 'الفترة',
  vehicles: 'المركبات',
  rows: 'الصفوف',
  read: 'وقت القراءة',
  total: 'المجموع',
  colon: ': ',
  allOf: (owner, count) => `كل ما يراه ${isolated(owner)} (${count})`,
  empty: 'لا صفوف في التقرير',
  further: (count) => `وعدد الصفوف الأخرى ${count}`,
  attached: (file) => `مرفق: ${isolated(file)}. الأوقات في الملف بالتوقيت العالمي المنسق (UTC)`,
  tooManyRows: (most) => `في التقرير أكثر من ${most} صف. لم يُرفق وليس فيه مجاميع، لأن جزءًا منه فقط قُرئ`,
  tooLarge: (mebibytes) => `الملف أكبر من ${mebibytes} ميبيبايت، لذلك لم يُرفق`,
  atUrl: (url) => `اقرأ التقرير كله في وحدة التحكم: ${isolated(url)}`,
  atPage: 'اقرأ التقرير كله في صفحة «التقارير» من وحدة التحكم',
  shorter: 'لملف أصغر اختر فترة أقصر أو مركبات أقل',
  why: (owner, schedule, account) =>
    `تصلك هذه الرسالة بسبب التقرير المجدول ${isolated(schedule)} الخاص بالمستخدم ${isolated(owner)} في الحساب ${isolated(account)}. لإيقافها اطلب ذلك منه أو من أحد مسؤولي الحساب`,
};

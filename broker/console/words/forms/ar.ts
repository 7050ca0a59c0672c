// Forms and dialogs in Arabic.
import { isolated } from '../base/arabic.ts';
import type { FormTexts } from './en.ts';

export const formTexts: FormTexts = {
  forms: {
    failed: 'لم يُنفَّذ',
    copy: 'نسخ',
    copied: 'نُسخ',
    copyOf: (name) => `نسخ: ${name}`,
    once: 'يُعرض هذه المرة فقط. لا تحتفظ الخدمة بنسخة يمكن قراءتها',
    saved: 'حُفظ',
    change: 'احفظ التغييرات',
    unchanged: 'لم يتغير شيء بعد',
    idHint: 'من 1 إلى 64 حرفًا لاتينيًا أو رقمًا أو _ أو -. لا يمكن تغييره لاحقًا',
    idWrong: `استخدم من 1 إلى 64 من ${isolated('A-Z a-z 0-9 _ -')}`,
  },
};

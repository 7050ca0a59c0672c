// That the service has another build of the console, in Arabic.
import type { ReleaseTexts } from './en.ts';

export const releaseTexts: ReleaseTexts = {
  release: {
    title: 'لوحدة التحكم إصدار جديد',
    hint: 'ما زالت علامة التبويب هذه تعمل بالإصدار السابق. أنهِ ما تكتبه ثم أعد تحميلها',
    loadAgain: 'أعد التحميل',
  },
};

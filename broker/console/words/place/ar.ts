// Address of the last position and people aboard, in Arabic.
import { n } from '../base/arabic.ts';
import type { PlaceTexts } from './en.ts';

export const placeTexts: PlaceTexts = {
  place: {
    title: 'المكان والأشخاص',
    address: 'عنوان آخر موقع',
    hint: 'تركه فارغًا يزيله. والموقع التالي يبدأ بلا عنوان',
    save: 'حفظ العنوان',
    none: 'لم يُكتب عنوان لهذا الموقع',
    aboard: 'الأشخاص على متن المركبة',
    notCounted: 'لم تُبلّغ المركبة عن أي عدد',
    of: (count, most) => `${n(count)} من ${n(most)}`,
    tooMany: 'أكثر مما يجوز لها أن تحمل',
  },
};

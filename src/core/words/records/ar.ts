// Units, and how alarms are described, in Arabic.

export const units = {
  s: 'ث',
  min: 'د',
  h: 'س',
  d: 'ي',
  km: 'كم',
  kmh: 'كم/س',
  percent: '%',
  volts: 'فولت',
  litres: 'ل',
};

export const alarmPriorities = { critical: 'حرج', high: 'مرتفع', low: 'منخفض' };

export const alarmStates = { new: 'جديد', taken: 'متولّى', shelved: 'مؤجل', closed: 'مغلق' };

export const closeReasons = {
  resolved: 'حُلّ',
  false_alarm: 'إنذار كاذب',
  expected: 'متوقع وغير ضار',
  test: 'تجربة',
  duplicate: 'إنذار آخر يقوم مقامه',
  other: 'سبب آخر',
  ended: 'انتهى سببه',
};

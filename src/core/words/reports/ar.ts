// Kinds, columns and decisions of reports, and reasons of cuts, in Arabic.
import type { ColumnID, ReportKind } from '../../reports/columns.ts';
import type { CutReason } from '../../reports/order-reason.ts';
import type { DecisionState } from '../../reports/rows.ts';

export const reportKinds: Readonly<Record<ReportKind, string>> = {
  summary: 'ملخص',
  trips: 'الرحلات',
  stops: 'التوقفات',
  alarms: 'الإنذارات',
  decisions: 'قرارات شخصين',
  events: 'الأحداث',
};

export const reportColumns: Readonly<Record<ColumnID, string>> = {
  vehicle: 'المركبة',
  start: 'البداية',
  end: 'النهاية',
  trips: 'الرحلات',
  stops: 'التوقفات',
  distance: 'المسافة',
  driving: 'القيادة',
  standing: 'الوقوف',
  idle: 'الدوران دون حركة',
  average: 'المتوسط',
  highest: 'الأعلى',
  fuelStart: 'الوقود عند البداية',
  fuelEnd: 'الوقود عند النهاية',
  busDistance: 'المسافة، الناقل',
  busFuel: 'الوقود، الناقل',
  busHours: 'ساعات المحرك، الناقل',
  place: 'أين',
  code: 'ماذا',
  priority: 'الأولوية',
  state: 'الحالة',
  count: 'الأحداث',
  untaken: 'حتى التولي',
  owner: 'المسؤول',
  closed: 'أُغلق',
  closeReason: 'سبب الإغلاق',
  askedBy: 'طلبه',
  reason: 'السبب',
  decision: 'القرار',
  decidedBy: 'قرره',
  decided: 'وقت القرار',
  waited: 'الانتظار',
  note: 'لماذا',
  zone: 'المنطقة',
  speed: 'السرعة',
  late: 'التأخر',
};

export const decisions: Readonly<Record<DecisionState, string>> = {
  pending: 'ينتظر',
  approved: 'موافَق عليه',
  refused: 'مرفوض',
  withdrawn: 'مسحوب',
  expired: 'انتهى وقته',
};

export const cutReasons: Readonly<Record<CutReason, string>> = {
  stolen: 'مسروقة',
  misuse: 'استُخدمت دون إذن',
  lease_ended: 'انتهى عقد الإيجار',
  unsafe: 'غير آمنة للقيادة',
  driver: 'طلبه السائق',
  test: 'تجربة',
  other: 'سبب آخر',
};

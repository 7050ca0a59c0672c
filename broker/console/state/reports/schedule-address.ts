// Mailed reports in an address. A separate file, as the router loads it at the start.

export const scheduleDialogs = [
  'schedule-create',
  'schedule-edit',
  'schedule-send',
  'schedule-delete',
] as const;

// What an address may name of the mailed reports. Apart from the rest, as the router loads it at the start.

export const scheduleDialogs = [
  'schedule-create',
  'schedule-edit',
  'schedule-send',
  'schedule-delete',
] as const;

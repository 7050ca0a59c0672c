// Filters of the inbox in its address. Pure.

export const inboxFilters = ['all', 'unviewed'] as const;
export type InboxFilter = (typeof inboxFilters)[number];

// What the inbox can show, and may name in its address. Pure.

export const inboxFilters = ['all', 'unviewed'] as const;
export type InboxFilter = (typeof inboxFilters)[number];

// Rules in an address. A separate file, as the router loads it at the start.

export const ruleLists = ['rules', 'deliveries'] as const;
export const ruleDialogs = ['rule-create', 'rule-edit', 'rule-test', 'rule-delete'] as const;
export const deliveryFilters = ['all', 'pending', 'sent', 'dead'] as const;

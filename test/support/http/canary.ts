// What stands in every text of the tenant `rival`, and must never show to anybody of another.

export const canary = 'CANARY-of-the-other-tenant';

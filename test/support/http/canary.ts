// What stands in every text of the tenant `rival`, and must never show in an answer to another tenant.

export const canary = 'CANARY-of-the-other-tenant';

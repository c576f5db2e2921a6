/**
 * Intents whose settling the CPI has refused once. The mark was a key in the sealed intent, which SQL cannot read: an intent
 * with such a key counts as not refused yet, and is asked about in one task more.
 */
export const refusedIntents = `
alter table intents add column settling_refused boolean not null default false;
`;

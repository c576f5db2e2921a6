/**
 * Configs may hold secrets (the properties of a cpi config), so the Director seals their content. Each migration is marked
 * once what stood in plain text before it is sealed: a Director that dies in between does it at its next start.
 */
export const configs = `
alter table configs rename column content to content_sealed;
update configs set content_sealed = to_json(content_sealed)::text;

alter table migrations add column sealed boolean not null default false;
`;

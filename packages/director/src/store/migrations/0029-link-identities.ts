/** Each provider with the one that stays of those with its identity. */
const SAME_PROVIDERS = `
  select id, first_value(id) over (
    partition by deployment_id, group_name, job, kind, original_name
    order by (content_sealed is null), id desc
  ) as kept
  from link_providers
`;

/**
 * Providers and consumers of links are the same ones when their alias or type changes: only their owner and their original
 * name identify them. A deploy that failed with another alias has left the same provider twice: the one that was deployed
 * stays.
 */
export const linkIdentities = `
alter table link_providers add column announced_name text, add column announced_type text;

update links l set provider_id = s.kept from (${SAME_PROVIDERS}) s where s.id = l.provider_id and s.kept <> s.id;
delete from link_providers p using (${SAME_PROVIDERS}) s where s.id = p.id and s.kept <> s.id;

delete from link_consumers c using link_consumers newer
  where newer.id > c.id and newer.deployment_id = c.deployment_id and newer.group_name = c.group_name
    and newer.job = c.job and newer.original_name = c.original_name;

do $$
declare one record;
begin
  for one in
    select conrelid::regclass as of_table, conname from pg_constraint
    where contype = 'u' and conrelid in ('link_providers'::regclass, 'link_consumers'::regclass)
  loop
    execute format('alter table %s drop constraint %I', one.of_table, one.conname);
  end loop;
end
$$;
alter table link_providers add constraint link_providers_identity
  unique (deployment_id, group_name, job, kind, original_name);
alter table link_consumers add constraint link_consumers_identity
  unique (deployment_id, group_name, job, original_name);
`;

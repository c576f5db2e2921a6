/**
 * A VM remembers, by a mark, the settings of all agents when it was made: one that was never ready is recreated when they change.
 */
export const agentEnv = `
alter table vms add column agent_env text;

create or replace function write_vms(this_instance bigint, entry jsonb, envs text[]) returns void language plpgsql as $$
declare written integer;
begin
  -- The index that allows one active per instance looks at each row as it changes.
  if jsonb_array_length(entry -> 'vms') > 1 then
    update vms set active = false where instance_id = this_instance and active and cid in (
      select x.cid from jsonb_to_recordset(entry -> 'vms') as x(cid text, active boolean) where not x.active);
  end if;
  insert into vms (instance_id, cid, agent_id, active, cpi, created_at, stemcell_name, stemcell_version,
    stemcell_api_version, api_version, channel, env_sealed, cloud_properties, networks, disks, agent_url,
    certificate_until, ready, agent_env)
  select this_instance, x.cid, x.agent_id, x.active, x.cpi, to_timestamp(x.created_ms / 1000), x.stemcell_name,
    x.stemcell_version, x.stemcell_api_version, x.api_version, x.channel, envs[x.nth], x.cloud_properties,
    x.networks, x.disks, x.agent_url, to_timestamp(x.until_ms / 1000), x.ready, x.agent_env
  from jsonb_to_recordset(entry -> 'vms') as x(cid text, agent_id text, active boolean, cpi text,
    created_ms float8, stemcell_name text, stemcell_version text, stemcell_api_version integer,
    api_version integer, channel text, nth integer, cloud_properties jsonb, networks jsonb, disks jsonb,
    agent_url text, until_ms float8, ready boolean, agent_env text)
  order by x.nth
  on conflict (cid) do update set active = excluded.active, networks = excluded.networks, disks = excluded.disks,
    agent_url = excluded.agent_url, certificate_until = excluded.certificate_until, ready = excluded.ready
  where vms.instance_id = excluded.instance_id;
  get diagnostics written = row_count;
  if written <> jsonb_array_length(entry -> 'vms') then
    raise exception using errcode = 'SW001', message = 'a VM belongs to another instance: ' || (
      select string_agg(x.cid, ', ') from jsonb_to_recordset(entry -> 'vms') as x(cid text));
  end if;
end
$$;
`;

/**
 * A CPI may have another name by now than when a disk was recorded (`migrated_from`), so a snapshot is known by its disk's
 * cid alone: that is unique in the whole Director.
 */
export const cpiNames = `
create or replace function snapshots_follow() returns trigger language plpgsql as $$
begin
  update snapshots set disk_cid = new.cid where disk_cid = old.cid;
  return null;
end
$$;

create or replace function snapshots_left() returns trigger language plpgsql as $$
begin
  if exists (select 1 from persistent_disks where cid = old.cid)
    or exists (select 1 from orphan_disks where cid = old.cid) then return null; end if;
  with gone as (delete from snapshots where disk_cid = old.cid returning *)
  insert into strays (kind, cpi, request_id, about, why)
  select 'snapshot', cpi, cid, 'snapshot ' || cid || ' of disk ' || disk_cid, 'its disk is gone' from gone;
  return null;
end
$$;
`;

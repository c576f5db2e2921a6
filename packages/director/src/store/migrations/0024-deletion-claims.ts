/** Claims of tasks that delete stemcells and subnets, as those on orphaned disks. */
export const deletionClaims = `
alter table stemcells
  add column deleting_task  bigint,
  add column deleting_since timestamptz,
  add constraint stemcells_claim check ((deleting_task is null) = (deleting_since is null));
alter table subnets
  add column deleting_task  bigint,
  add column deleting_since timestamptz,
  add constraint subnets_claim check ((deleting_task is null) = (deleting_since is null));
`;

/**
 * The task that deletes an orphaned disk claims its row first. A claimed disk is not given to an instance. The claim outlives its
 * task if it is not known whether the disk is deleted: the next task that deletes the disk takes it over.
 */
export const diskClaims = `
alter table orphan_disks
  add column deleting_task  bigint,
  add column deleting_since timestamptz,
  add constraint orphan_disks_claim check ((deleting_task is null) = (deleting_since is null));
`;

/**
 * Blobs of releases that no row names any more, with the tasks that ran then: they may have read the row before it went. And
 * the teams whose admins asked for external links; none for those that administrators or older Directors made.
 */
export const retiredBlobsAndLinkOwners = `
create table retired_blobs (
  blob_id    text primary key,
  readers    bigint[] not null,
  retired_at timestamptz not null default now()
);

alter table link_consumers add column owner_teams text[] not null default '{}';
`;

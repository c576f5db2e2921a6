/** Blobs of releases that no row names any more, with the tasks that ran then: they may have read the row before it went. */
export const retiredBlobs = `
create table retired_blobs (
  blob_id    text primary key,
  readers    bigint[] not null,
  retired_at timestamptz not null default now()
);
`;

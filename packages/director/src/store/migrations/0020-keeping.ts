/**
 * Scheduled jobs, done by one of the Directors that share a database: the last turn of each job that one of them has taken. A
 * schedule that changes starts over.
 */
export const keeping = `
create table scheduled_turns (
  job      text not null,
  schedule text not null,
  turn     timestamptz not null,
  primary key (job, schedule)
);
`;

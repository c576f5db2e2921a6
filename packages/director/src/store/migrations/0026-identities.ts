/**
 * Identity that the rows of this database depend on and do not hold: the keys, the CPI, the users and the name of its Director. A
 * Director with another identity is refused.
 */
export const identities = `
create table identities (
  name     text primary key,
  value    text not null,
  noted_at timestamptz not null default now()
);
`;

/** VMs that compile packages are instances of their deployment, so that none is ever lost. */
export const compilation = `
alter table instances add column compilation boolean not null default false;
`;

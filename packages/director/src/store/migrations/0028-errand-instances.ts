/** Marks the instances of errand groups, which have a VM only while their errand runs. The next deploy marks older ones. */
export const errandInstances = `
alter table instances add column errand boolean not null default false;
`;

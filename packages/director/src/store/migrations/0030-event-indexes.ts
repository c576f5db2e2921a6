/** Events are asked for by these columns, the newest 200 of each: in the order of an index, without reading the others. */
export const eventIndexes = `
create index events_at on events (at, id);
create index events_username on events (username, id);
create index events_object_name on events (object_name, id) where object_name is not null;
create index events_instance on events (instance, id) where instance is not null;
create index events_of_deployment on events (deployment, id) where deployment is not null;
drop index events_deployment;
`;

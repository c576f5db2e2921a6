/**
 * The event that ends something comes with 0 for its parent: it is the newest event of the task that began the same with
 * the same, and that nothing has ended. What another task began has none.
 */
export const eventParents = `
create index events_begun on events (task_id, object_type, action, coalesce(instance, ''), id) where parent_id is null;

create function find_event_parent() returns trigger language plpgsql as $$
begin
  new.parent_id := (
    select max(begun.id) from events begun
    where begun.task_id = new.task_id and begun.object_type = new.object_type and begun.action = new.action
      and begun.parent_id is null and coalesce(begun.instance, '') = coalesce(new.instance, '')
      and (begun.object_name is null or new.object_name is null or begun.object_name = new.object_name));
  return new;
end
$$;

create trigger events_parent before insert on events
  for each row when (new.parent_id = 0) execute function find_event_parent();
`;

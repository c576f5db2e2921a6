import type pg from "pg";

/** A fault that is planted into the database of a lab: what a Director writes is dropped or changed there. */
export interface DatabaseFault {
  readonly table: string;
  readonly on: "insert" | "update" | "delete";
  /** Body of a row trigger that runs before the write. */
  readonly body: string;
}

const dropped = (table: string): DatabaseFault => ({ table, on: "insert", body: "return null;" });

/** Each breaks one promise of the Director. The nets must notice all of them. */
export const PLANTED_FAULTS = {
  "a claim is not kept": {
    table: "orphan_disks",
    on: "update",
    body: "new.deleting_task := null; new.deleting_since := null; return new;",
  },
  "the claim of a stemcell is not kept": {
    table: "stemcells",
    on: "update",
    body: "new.deleting_task := null; new.deleting_since := null; return new;",
  },
  "a lock is not respected": {
    table: "locks",
    on: "insert",
    body: "delete from locks where name = new.name and task_id <> new.task_id; return new;",
  },
  "an address is not given back": {
    table: "ip_addresses",
    on: "delete",
    body: `update ip_addresses set instance_id = (select max(id) from instances where id <> old.instance_id
        and not compilation) where address = old.address
        and exists (select from instances where id <> old.instance_id and not compilation);
      if found then return null; end if;
      return old;`,
  },
  "an attachment is not recorded": {
    table: "persistent_disks",
    on: "update",
    body: "new.attached_to := null; return new;",
  },
  "an intent is not recorded": dropped("intents"),
  "a stray is not recorded": dropped("strays"),
  "an orphaned disk is not recorded": dropped("orphan_disks"),
  "the use of a stemcell is not recorded": dropped("deployment_stemcells"),
  "a snapshot is not recorded": dropped("snapshots"),
} as const satisfies Readonly<Record<string, DatabaseFault>>;

/** Plants a fault. The returned function removes it. */
export async function plant(
  admin: pg.Client,
  { table, on, body }: DatabaseFault,
): Promise<() => Promise<void>> {
  await admin.query(`create function lab.planted() returns trigger language plpgsql as $$ begin ${body} end $$;
    create trigger planted before ${on} on public.${table} for each row execute function lab.planted()`);
  return async () =>
    void (await admin.query(`drop trigger planted on public.${table}; drop function lab.planted()`));
}

import type pg from "pg";

/** All that a database holds, as text: what one has taken, another with the same tables can be given. */
export interface DatabaseRows {
  readonly tables: readonly string[];
  /** Rows of each table as JSON. Null if the table is empty. */
  readonly rows: readonly (string | null)[];
  /** The last number that each sequence has given. */
  readonly sequences: string;
}

/** A database whose rows are taken and given back. Far cheaper than another database for each life of a Director. */
export class RowKeeper {
  readonly #client: pg.Client;
  readonly #take: string;
  readonly #tables: readonly string[];

  private constructor(client: pg.Client, tables: readonly string[]) {
    this.#client = client;
    this.#tables = tables;
    const rows = tables.map((name) => `(select json_agg(t)::text from "${name}" t)`);
    // One statement sees one moment.
    this.#take = `select array[${rows.join(",")}] as rows, (${SEQUENCES}) as sequences`;
  }

  static async of(client: pg.Client): Promise<RowKeeper> {
    await client.query(GIVE);
    const { rows } = await client.query<{ name: string }>(TABLES);
    return new RowKeeper(
      client,
      rows.map(({ name }) => name),
    );
  }

  /** Takes all committed rows. Does not wait for open transactions. */
  async take(): Promise<DatabaseRows> {
    const { rows } = await this.#client.query<Omit<DatabaseRows, "tables">>(this.#take);
    const [found] = rows;
    if (found === undefined) throw new Error("bug: no row");
    return { tables: this.#tables, ...found };
  }

  async give({ tables, rows, sequences }: DatabaseRows): Promise<void> {
    await this.#client.query("select lab.give($1, $2, $3)", [tables, rows, sequences]);
  }
}

const TABLES = `
select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'migrations' order by 1`;

const SEQUENCES = `
select json_object_agg(sequencename, last_value)::text from pg_sequences where schemaname = 'public'`;

/**
 * Uses a separate schema, unknown to Directors. Triggers, those of foreign keys among them, have done their work
 * before.
 */
const GIVE = `
create schema lab;
create function lab.give(tables text[], contents text[], sequences text) returns void language plpgsql as $$
declare
  at integer;
  one record;
  filled boolean;
begin
  set local session_replication_role = replica;
  for at in 1 .. array_length(tables, 1) loop
    execute format('select exists (select from public.%I)', tables[at]) into filled;
    if filled then execute format('delete from public.%I', tables[at]); end if;
    if contents[at] is not null then
      execute format(
        'insert into public.%1$I overriding system value select * from json_populate_recordset(null::public.%1$I, $1)',
        tables[at]) using contents[at]::json;
    end if;
  end loop;
  for one in select key as name, value from json_each_text(sequences::json) loop
    perform setval(format('public.%I', one.name)::regclass, coalesce(one.value::bigint, 1), one.value is not null);
  end loop;
end $$`;

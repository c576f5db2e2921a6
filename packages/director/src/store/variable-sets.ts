import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** Versions of the variables that a deploy uses. */
export interface VariableSet {
  readonly id: number;
  /** Ids by name. */
  readonly entries: ReadonlyMap<string, string>;
  /** The same for variables of other deployments that came with links, by the deployment that provides the link. */
  readonly provided: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** Stands in the name of an entry between a variable and the deployment that provides it: no name of a variable has it. */
const PROVIDED_BY = "@";
const variableOf = sql<string>`split_part(e.name, ${PROVIDED_BY}, 1)`;

/** Returns the set of one deploy, and makes it when its task runs for the first time. */
export async function ensureVariableSet(db: Db, deployment: string, taskId: number): Promise<VariableSet> {
  await sql`insert into variable_sets (deployment_id, task_id)
    select id, ${taskId} from deployments where name = ${deployment}
    on conflict (deployment_id, task_id) do nothing`.execute(db);
  const { id } = await db
    .selectFrom("variable_sets as s")
    .innerJoin("deployments as d", "d.id", "s.deployment_id")
    .select("s.id")
    .where("d.name", "=", deployment)
    .where("s.task_id", "=", taskId)
    .executeTakeFirstOrThrow();
  return { id, ...(await entriesOf(db, id)) };
}

/** Returns the set of the last deploy that succeeded. */
export async function deployedVariableSet(db: Db, deployment: string): Promise<VariableSet | undefined> {
  const row = await db
    .selectFrom("variable_sets as s")
    .innerJoin("deployments as d", "d.id", "s.deployment_id")
    .select("s.id")
    .where("d.name", "=", deployment)
    .where("s.deployed", "=", true)
    .orderBy("s.id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && { id: row.id, ...(await entriesOf(db, row.id)) };
}

async function entriesOf(db: Db, id: number): Promise<Pick<VariableSet, "entries" | "provided">> {
  const rows = await db
    .selectFrom("variable_set_entries")
    .select(["name", "variable_id"])
    .where("set_id", "=", id)
    .orderBy("name")
    .execute();
  const entries = new Map<string, string>();
  const provided = new Map<string, Map<string, string>>();
  for (const { name: written, variable_id } of rows) {
    const [name = "", ...rest] = written.split(PROVIDED_BY);
    const provider = rest.join(PROVIDED_BY);
    if (rest.length === 0) entries.set(name, variable_id);
    else provided.set(provider, (provided.get(provider) ?? new Map()).set(name, variable_id));
  }
  return { entries, provided };
}

export interface PinnedVariable {
  readonly name: string;
  readonly id: string;
  /** Set where the deploy defines the variable. */
  readonly type?: string | undefined;
  /** Deployment that provides the link with which the variable came. */
  readonly provider?: string | undefined;
}

/** Pins a variable unless it is pinned already. */
export async function pinVariable(
  db: Db,
  set: number,
  { name: variable, id, type, provider }: PinnedVariable,
): Promise<void> {
  const name = provider === undefined ? variable : `${variable}${PROVIDED_BY}${provider}`;
  await db
    .insertInto("variable_set_entries")
    .values({ set_id: set, name, type: type ?? null, variable_id: id })
    .onConflict((on) => on.doNothing())
    .execute();
}

/** The deploy succeeded: its instances have these versions, and sets that no instance has any more go. */
export async function useVariableSet(db: Db, set: number): Promise<void> {
  await sql`update variable_sets set deployed = true where id = ${set}`.execute(db);
  await sql`update instances i set variable_set_id = ${set} from variable_sets s
    where s.id = ${set} and i.deployment_id = s.deployment_id and not i.ignore`.execute(db);
  await sql`delete from variable_sets old using variable_sets s
    where s.id = ${set} and old.deployment_id = s.deployment_id and old.id <> s.id
      and not exists (select 1 from instances i where i.variable_set_id = old.id)`.execute(db);
}

export interface DeploymentVariable {
  readonly id: string;
  readonly name: string;
}

/** Returns every version that a deployment uses, by name. `type` limits them to those it defines with this type. */
export async function deploymentVariables(
  db: Db,
  deployment: string,
  type: string | undefined,
): Promise<readonly DeploymentVariable[]> {
  const { rows } = await sql<DeploymentVariable>`
    select distinct ${variableOf} as name, e.variable_id as id
    from variable_set_entries e
      join variable_sets s on s.id = e.set_id join deployments d on d.id = s.deployment_id
      left join variables v on v.id = e.variable_id
    where d.name = ${deployment} and ${type === undefined ? sql`true` : sql`coalesce(e.type, v.type) = ${type}`}
    order by 1, 2`.execute(db);
  return rows;
}

export interface VariableUse {
  readonly deployment: string;
  readonly teams: readonly string[];
  readonly id: string;
}

/** Deployments whose last successful deploy uses a variable, by name, with the id of the version. */
export async function deploymentsUsing(db: Db, variable: string): Promise<readonly VariableUse[]> {
  const { rows } = await sql<VariableUse>`
    select distinct d.name as deployment, d.teams, e.variable_id as id
    from deployments d
      join lateral (select s.id from variable_sets s
        where s.deployment_id = d.id and s.deployed order by s.id desc limit 1) last on true
      join variable_set_entries e on e.set_id = last.id
    where ${variableOf} = ${variable}
    order by 1, 3`.execute(db);
  return rows;
}

import { once } from "node:events";
import { chown, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import { ifThere } from "@slipway/kernel/files";
import { systemRandom } from "@slipway/kernel/random";
import { AccessFailed, DiskFull } from "../errors.ts";
import { NO_SPACE } from "./data.ts";
import type { Places } from "./places.ts";
import { isPidFileStale, livingPostmaster } from "./postmaster.ts";
import { DATABASE, ROLE } from "./probe.ts";
import type { Programs } from "./programs.ts";
import { spawnAs } from "./run-as.ts";
import { mustBeAlone, stopServer } from "./server.ts";
import type { ServerUser } from "./user.ts";

/**
 * Allows connections of the Director's role, with its password. The superuser may not connect, since it can run programs (`copy
 * ... to program`) as the server's user; what only a superuser may do is done while no server runs.
 */
const HBA = `# Written by the Director at each start.\nlocal all ${ROLE} scram-sha-256\n`;

/** A random password needs no stretching, and every connection would pay for it. */
const SETTINGS = ["scram_iterations=1", "log_min_error_statement=panic", "log_min_messages=fatal"];
/** Error of a data directory that has been set up before. */
const EXISTS = `database "${DATABASE}" already exists`;
const PASSWORD_BYTES = 32;
const RETRY_MS = 60_000;

interface AccessSetup {
  readonly at: Places;
  readonly programs: Programs;
  readonly user: ServerUser | undefined;
  readonly clock: Clock;
  readonly stopMs: number;
  /** Throw-away databases belong to tests, which also make databases and write rows without triggers. */
  readonly durable: boolean;
}

/**
 * Makes the role and the database of the Director, also in a data directory of an earlier version, in which any user could
 * connect as the superuser. Returns the password. A server that runs is stopped first if there is something to do.
 */
export async function ensureAccess(setup: AccessSetup): Promise<string> {
  const { at, clock, stopMs } = setup;
  const file = join(at.data, "pg_hba.conf");
  const known = await ifThere(readFile(at.password, "utf8"));
  if (known !== undefined && (await readFile(file, "utf8")) === HBA) return known;
  const left = await livingPostmaster(at.data);
  if (left !== undefined) await stopServer(left, { at, clock, stopMs });
  await mustBeAlone(setup);
  const password = known ?? systemRandom.hex(PASSWORD_BYTES);
  if (known === undefined) await writeOwned(at.password, password, await stat(at.root));
  await asSuperuser(setup, "postgres", rolesFor(password, setup.durable));
  await asSuperuser(setup, DATABASE, [OWNERS]);
  // Written last: if it exists, everything else is done.
  await writeOwned(file, HBA, await stat(at.data));
  return password;
}

async function writeOwned(path: string, text: string, { uid, gid }: { uid: number; gid: number }) {
  await writeFileAtomic(path, text);
  if (process.getuid?.() === 0) await chown(path, uid, gid);
}

const rolesFor = (password: string, durable: boolean): string[] => [
  `do $$ begin
  if not exists (select from pg_roles where rolname = '${ROLE}') then create role ${ROLE}; end if;
end $$`,
  `alter role ${ROLE} login nosuperuser ${durable ? "nocreatedb" : "createdb"} nocreaterole password '${password}'`,
  `grant pg_read_all_settings to ${ROLE}`,
  ...(durable ? [] : [`grant set on parameter session_replication_role to ${ROLE}`]),
  `create database ${DATABASE} owner ${ROLE}`,
];

/** Gives away what a superuser of an earlier version has made. Sequences of columns go with their tables. */
const OWNERS = `do $$
declare
  one text;
begin
  alter database ${DATABASE} owner to ${ROLE};
  for one in
    with own as (
      select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
    )
    select format('schema %I', nspname) from pg_namespace join own using (oid) where nspname <> 'public'
    union all
    select format('table %s', c.oid::regclass) from pg_class c
    where c.relnamespace in (select oid from own) and c.relkind in ('r', 'p', 'v', 'm', 'S')
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
        and d.deptype in ('a', 'i') and d.refobjsubid > 0)
    union all
    select format('routine %s', oid::regprocedure) from pg_proc where pronamespace in (select oid from own)
    union all
    select format('type %s', oid::regtype) from pg_type
    where typnamespace in (select oid from own) and typtype in ('e', 'd', 'r')
  loop
    execute format('alter %s owner to ${ROLE}', one);
  end loop;
end $$`;

/** Runs statements in the server's single-user mode, which asks for no password and listens nowhere. */
async function asSuperuser(
  { at, programs, user, clock }: AccessSetup,
  database: string,
  statements: readonly string[],
): Promise<void> {
  const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
  const args = ["--single", "-j", "-D", at.data, ...settings, database];
  for (const deadline = clock.monotonic() + RETRY_MS; ; await clock.sleep(50)) {
    if (await isPidFileStale(at.data)) await rm(join(at.data, "postmaster.pid"), { force: true });
    const child = spawnAs(programs, user, programs.postgres, args, "pipe", "pipe");
    let said = "";
    child.stdout?.resume();
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-8000);
    });
    // A server that ends early says why.
    child.stdin?.on("error", () => undefined).end(statements.map((sql) => `${sql};\n\n`).join(""));
    const [code] = (await once(child, "close").catch((cause: unknown) => {
      throw AccessFailed({ dir: at.root, said: "postgres cannot be started" }, { cause });
    })) as [number | null];
    const wrong = said.split("\n").filter((line) => /ERROR|FATAL|PANIC/.test(line) && !line.endsWith(EXISTS));
    if (code === 0 && wrong.length === 0) return;
    if (NO_SPACE.test(said)) throw DiskFull({ where: at.root });
    // The children of a killed server need a moment to end.
    if (
      !/pre-existing shared memory block|lock file "[^"\n]*" already exists/.test(said) ||
      clock.monotonic() > deadline
    )
      throw AccessFailed({ dir: at.root, said: wrong.join("; ") || `code ${code}` });
  }
}

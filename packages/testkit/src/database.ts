import { mkdir, writeFile } from "node:fs/promises";
import { openEmbedded } from "@slipway/director/store/embedded/open";
import { foundAccess } from "@slipway/director/store/embedded/places";
import { connectionTo, type ServerAccess, withClient } from "@slipway/director/store/embedded/probe";
import { migrate } from "@slipway/director/store/migrations";
import { openStore, type Store } from "@slipway/director/store/open";
import type { Db } from "@slipway/director/store/schema";
import { sealOld } from "@slipway/director/store/seal-old";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { KEY_BYTES, sealerOf } from "@slipway/kernel/sealer";
import pg from "pg";
import { oncePerRun } from "./run.ts";

const TEMPLATE = "migrated";

/** The log is not looked after: a timer of ten minutes would keep a script from ending. */
const clock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => (ms > 60_000 ? new Promise<never>(() => undefined) : systemClock.sleep(ms, signal)),
};

interface Server {
  command(sql: string): Promise<unknown>;
  readonly access: ServerAccess;
}

let server: Promise<Server> | undefined;
let spare: Promise<string> | undefined;
let count = 0;

/** One server for all workers of a test run, started when the first test asks for a database. */
async function sharedServer(): Promise<Server> {
  const access = await foundAccess(await oncePerRun("database", start));
  const admin = new pg.Client(connectionTo(access, "postgres"));
  admin.on("error", () => undefined);
  await admin.connect();
  const { ref, unref } = lifeOf(admin);
  unref();
  let last: Promise<unknown> = Promise.resolve();
  const command = (sql: string) => {
    const next = last.then(async () => {
      ref();
      await admin.query(sql).finally(unref);
    });
    last = next.catch(() => undefined);
    return next;
  };
  return { access, command };
}

/** The server outlives the worker that starts it. The run's guard ends it, whose pid it finds in `database.pid`. */
async function start(dir: string): Promise<string> {
  await mkdir(dir, { mode: 0o711 });
  const embedded = await openEmbedded({
    stateDir: dir,
    clock,
    durable: false,
    settings: { max_connections: "400", autovacuum: "off" },
  });
  await writeFile(`${dir}.pid`, String(embedded.pid()));
  const access = await foundAccess(dir);
  await withClient(connectionTo(access, "postgres"), (client) => client.query(`create database ${TEMPLATE}`));
  await withClient(connectionTo(access, TEMPLATE), async (client) => {
    await migrate(client);
    await sealOld(client, testSealer);
  });
  return dir;
}

/** The types leave out what the client has: whether its connection keeps the process alive. */
function lifeOf(client: pg.Client): { ref: () => void; unref: () => void } {
  const { ref, unref } = client as unknown as { ref(): void; unref(): void };
  return { ref: ref.bind(client), unref: unref.bind(client) };
}

/** Copying the template is what takes time: the next one is copied while the test runs. */
async function nextDatabase({ command }: Server): Promise<string> {
  const make = async () => {
    count += 1;
    const name = `test_${process.pid}_${count}`;
    await command(`create database ${name} template ${TEMPLATE} strategy file_copy`);
    return name;
  };
  // Taken before anybody waits: two that ask at the same time must not get the same one.
  const mine = spare ?? make();
  spare = make();
  spare.catch(() => undefined);
  return await mine;
}

/** The same for all: nothing in a test is a secret. */
export const testSealer = sealerOf(Buffer.alloc(KEY_BYTES, 7), systemRandom);

/** A database of its own with all tables in it, empty. */
export async function freshDatabase(): Promise<{
  db: Db;
  store: Store;
  connection: pg.PoolConfig;
  close(): Promise<void>;
}> {
  server ??= sharedServer();
  const { access, command } = await server;
  const name = await nextDatabase(await server);
  const connection = connectionTo(access, name);
  const store = await openStore({ connection, sealer: testSealer });
  return {
    db: store.db,
    store,
    connection,
    close: async () => {
      await store.close();
      await command(`drop database ${name} with (force)`);
    },
  };
}

/**
 * Empties a database for the next test of a file, for less than half of what another database costs. Most tables have nothing
 * in them, and to truncate all of them takes longer than to copy a database.
 */
export async function emptied(connection: pg.PoolConfig): Promise<void> {
  await withClient(connection, (client) => client.query(EMPTY));
}

const EMPTY = `
do $$
declare
  one record;
  filled boolean;
begin
  set local session_replication_role = replica;
  for one in select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'migrations' loop
    execute format('select exists (select from %I)', one.name) into filled;
    if filled then execute format('delete from %I', one.name); end if;
  end loop;
  for one in select sequencename as name from pg_sequences where schemaname = 'public' and last_value is not null loop
    perform setval(one.name::regclass, 1, false);
  end loop;
end $$`;

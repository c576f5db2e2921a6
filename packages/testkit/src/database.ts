import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbedded } from "@slipway/director/store/embedded/open";
import { connectionTo, withClient } from "@slipway/director/store/embedded/probe";
import { migrate } from "@slipway/director/store/migrations";
import { openStore, type Store } from "@slipway/director/store/open";
import type { Db } from "@slipway/director/store/schema";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import pg from "pg";

const TEMPLATE = "migrated";

/** Ends the server and removes its directory when this process ends, however it does. */
const GUARD = `
const [pid, dir] = process.argv.slice(1);
const { rmSync } = require("node:fs");
const gone = () => { try { process.kill(Number(pid), 0); return false; } catch { return true; } };
process.stdin.resume().on("close", () => {
  try { process.kill(Number(pid), "SIGQUIT"); } catch {}
  let left = 250;
  const wait = setInterval(() => {
    if (!gone() && left-- > 0) return;
    clearInterval(wait);
    rmSync(dir, { recursive: true, force: true });
  }, 20);
});
`;

/** The log is not looked after: a timer of ten minutes would keep a script from ending. */
const clock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => (ms > 60_000 ? new Promise<never>(() => undefined) : systemClock.sleep(ms, signal)),
};

interface Server {
  readonly socket: string;
  command(sql: string): Promise<unknown>;
}

let server: Promise<Server> | undefined;
let spare: Promise<string> | undefined;
let count = 0;

/** One server per process, started when the first test asks. */
async function start(): Promise<Server> {
  const dir = mkdtempSync(join(tmpdir(), "slipway-db-"));
  // As root the server runs as another user, who must reach it.
  chmodSync(dir, 0o711);
  const embedded = await openEmbedded({
    stateDir: dir,
    clock,
    durable: false,
    settings: { max_connections: "300", autovacuum: "off" },
  });
  guard(embedded.pid(), dir);
  const socket = String(embedded.connection.host);
  const admin = new pg.Client(connectionTo(socket, "postgres"));
  admin.on("error", () => undefined);
  await admin.connect();
  const { ref, unref } = keeper(admin);
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
  await command(`create database ${TEMPLATE}`);
  await withClient(connectionTo(socket, TEMPLATE), (client) => migrate(client));
  return { socket, command };
}

/** The types leave out what the client has: whether its connection keeps the process alive. */
function keeper(client: pg.Client): { ref: () => void; unref: () => void } {
  const { ref, unref } = client as unknown as { ref(): void; unref(): void };
  return { ref: ref.bind(client), unref: unref.bind(client) };
}

function guard(pid: number, dir: string): void {
  const child = spawn(process.execPath, ["-e", GUARD, String(pid), dir], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
}

/** Copying the template is what takes time: the next one is copied while the test runs. */
async function nextDatabase({ command }: Server): Promise<string> {
  const make = async () => {
    count += 1;
    const name = `test_${count}`;
    await command(`create database ${name} template ${TEMPLATE} strategy file_copy`);
    return name;
  };
  const name = await (spare ?? make());
  spare = make();
  spare.catch(() => undefined);
  return name;
}

/** A database of its own with all tables in it, empty. */
export async function freshDatabase(): Promise<{
  db: Db;
  store: Store;
  connection: pg.PoolConfig;
  close(): Promise<void>;
}> {
  server ??= start();
  const { socket, command } = await server;
  const name = await nextDatabase(await server);
  const connection = connectionTo(socket, name);
  const store = await openStore({ connection });
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

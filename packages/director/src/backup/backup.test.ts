import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { systemClock } from "@slipway/kernel/clock";
import { errorText } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import { systemRandom } from "@slipway/kernel/random";
import { freshDatabase } from "@slipway/testkit/database";
import { fractionsOf } from "@slipway/testkit/sample";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { tries } from "@slipway/testkit/tries";
import type pg from "pg";
import { beforeEach, describe, expect, it } from "vitest";
import { withClient } from "../store/embedded/probe.ts";
import { MIGRATIONS, migrate } from "../store/migrations.ts";
import { failure } from "../store/testing/failure.ts";
import { backUp } from "./back-up.ts";
import { tablesOf } from "./dump.ts";
import { BackupNewer, BackupThere, DatabaseThere, PassphraseNeeded, StateThere } from "./errors.ts";
import { restore } from "./restore.ts";

sampleTests(1 / 4);

type Base = Awaited<ReturnType<typeof freshDatabase>>;

let from: Base;
let to: Base;
let dir: Awaited<ReturnType<typeof temporaryDirectory>>;
let state: string;
let file: string;
beforeEach(async () => {
  [from, to, dir] = await Promise.all([freshDatabase(), freshDatabase(), temporaryDirectory()]);
  await inDatabase(to, "drop schema public cascade; create schema public");
  state = join(dir.path, "state");
  file = join(dir.path, "director.backup");
  await mkdir(join(state, "pki"), { recursive: true });
  await mkdir(join(state, "blobs"), { recursive: true });
  await writeFile(join(state, "secrets.key"), "07".repeat(32), { mode: 0o600 });
  await writeFile(join(state, "pki", "authority.pem"), "CANARY-authority", { mode: 0o600 });
  await writeFile(join(state, "pki", "ca.crt"), "public", { mode: 0o644 });
  return async () => {
    await Promise.all([from.close(), to.close(), dir.remove()]);
  };
});

const inDatabase = ({ connection }: Base, sql: string) =>
  withClient(connection as pg.ClientConfig, (client) => client.query(sql));

const urlOf = ({ connection }: Base) =>
  `postgresql://${connection.user}:${connection.password}@/${connection.database}?host=${encodeURIComponent(String(connection.host))}`;

const take = (more: Partial<Parameters<typeof backUp>[0]> = {}) =>
  backUp({
    stateDir: state,
    config: { database: { url: urlOf(from) } },
    beside: {},
    to: file,
    passphrase: undefined,
    clock: systemClock,
    random: systemRandom,
    ...more,
  });

const bringBack = (more: Partial<Parameters<typeof restore>[0]> & { passphrase?: string } = {}) =>
  restore({
    from: { path: file, passphrase: more.passphrase },
    stateDir: join(dir.path, "restored"),
    config: { database: { url: urlOf(to) } },
    replace: false,
    beside: {},
    clock: systemClock,
    ...more,
  });

/** All rows of all tables, as text. */
const rowsOf = (base: Base) =>
  withClient(base.connection as pg.ClientConfig, async (client) => {
    await client.query("set timezone = 'UTC'");
    const all: Record<string, string[]> = {};
    for (const { name } of await tablesOf(client)) {
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from "${name}" t order by 1`,
      );
      all[name] = rows.map(({ row }) => row);
    }
    return all;
  });

/** Rows that are awkward to keep: bytes, times to the microsecond, json's own null, arrays, quotes and non-ASCII text. */
const AWKWARD = `
insert into director_attributes (name, value) values ('uuid', 'the-director'), ('odd', E'a"b''c\\\\d\\n\\te-ü-\\U0001F600');
insert into tasks (type, description, username, state, params_sealed, teams, created_at)
  select 'update_deployment', 'task ' || n, 'admin', case when n = 3 then 'processing' else 'done' end, '{"n": 1}',
    '{"a,b","c\\"d"}', '2026-01-02 03:04:05.678901+05' from generate_series(1, 500) n;
insert into task_output (task_id, type, start, data) values (3, 'event', 0, decode('7b7d0a', 'hex')), (1, 'debug', 0, '\\x00ff10');
insert into deployments (name, canonical, manifest_sealed) values ('shop', 'shop', '"x"');
insert into instances (deployment_id, uuid, group_name, index, state, spec) values (1, 'u1', 'web', 0, 'started', 'null');
insert into persistent_disks (instance_id, cid, size, cloud_properties, cpi, active, hint)
  values (1, 'disk-1', 9, '{"a": [1.50, 1e400]}', '', true, 'null');
insert into locks (name, task_id, owner, expires_at) values ('lock:deployment:shop', 3, 'somebody', now());
insert into intents (task_id, number, scope, step, intent_sealed) values (3, 1, 'shop', 'create_vm', '{}');`;

function unzipped(bytes: Buffer): Buffer | undefined {
  try {
    return gunzipSync(bytes);
  } catch {
    return undefined;
  }
}

/** Tables that a restore itself writes to. */
const FENCE = ["tasks", "task_output", "locks", "intents", "deployments", "restores", "events", "migrations"];

const without = (all: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !FENCE.includes(name)));

describe("a backup", () => {
  it("brings back every row as it was, and ids go on beyond what another life may have given away", async () => {
    await inDatabase(from, AWKWARD);
    const before = await rowsOf(from);
    await take();
    await bringBack();
    const after = await rowsOf(to);
    expect(without(after)).toEqual(without(before));
    const ended = ({ tasks = [] }: typeof before) => tasks.filter((row) => !row.includes('"task 3"'));
    expect(ended(after)).toEqual(ended(before));
    const { rows } = await inDatabase(
      to,
      "insert into tasks (type, description, username, params_sealed) values ('vms', 'x', 'admin', '{}') returning id",
    );
    expect(Number((rows[0] as { id: string }).id)).toBeGreaterThan(1_000_500);
    const behind = await inDatabase(
      to,
      "select sequencename from pg_sequences where coalesce(last_value, 0) < 1000000 and sequencename <> 'restores_id_seq'",
    );
    expect(behind.rows).toEqual([]);
  });

  it("brings back keys, certificates and blobs with their modes, and leaves uploads and halves out", async () => {
    const large = Buffer.alloc(3 << 20, "blob");
    await writeFile(join(state, "blobs", "large"), large, { mode: 0o600 });
    await writeFile(join(state, "blobs", ".other.half"), "half");
    await mkdir(join(state, "uploads"));
    await writeFile(join(state, "uploads", "one"), "upload");
    await take();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await bringBack();
    const restored = join(dir.path, "restored");
    expect(large.equals(await readFile(join(restored, "blobs", "large")))).toBe(true);
    expect(await readFile(join(restored, "secrets.key"), "utf8")).toBe("07".repeat(32));
    expect((await stat(join(restored, "pki", "authority.pem"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(restored, "pki", "ca.crt"))).mode & 0o777).toBe(0o644);
    expect((await readdir(restored, { recursive: true })).filter((name) => /half|upload/.test(name))).toEqual(
      [],
    );
  });

  it("is of one moment, whatever is committed while it is taken", async () => {
    await inDatabase(from, AWKWARD);
    let stop = false;
    const writer = withClient(from.connection as pg.ClientConfig, async (client) => {
      while (!stop)
        await client.query(`with made as (insert into tasks (type, description, username, params_sealed)
          values ('vms', 'pair', 'admin', '{}') returning id)
          insert into events (username, action, object_type, task_id) select 'admin', 'pair', 'task', id from made`);
    });
    const { manifest } = await take().finally(() => {
      stop = true;
    });
    await writer;
    await bringBack();
    const { rows } = await inDatabase(
      to,
      `select (select count(*) from tasks where description = 'pair') as tasks,
        (select count(*) from events where action = 'pair') as events,
        (select count(*) from tasks t where t.id > nextval('tasks_id_seq')) as ahead`,
    );
    expect(rows[0]).toMatchObject({ ahead: "0" });
    expect((rows[0] as { tasks: string }).tasks).toBe((rows[0] as { events: string }).events);
    expect(manifest.tables.find(({ name }) => name === "deployments")?.rows).toBe(1);
  });

  it("never replaces a file, and leaves none behind when it fails", async () => {
    await writeFile(file, "precious");
    expect(BackupThere.is(await failure(take()))).toBe(true);
    expect(await readFile(file, "utf8")).toBe("precious");
    await failure(
      take({ to: join(dir.path, "new"), config: { database: { url: `${urlOf(from)}&user=nobody` } } }),
    );
    expect((await readdir(dir.path)).sort()).toEqual(["director.backup", "state"]);
  });
});

describe("a restore", () => {
  it("ends tasks that were under way, frees locks, gives up what was begun, and marks deployments", async () => {
    await inDatabase(from, AWKWARD);
    await take();
    await bringBack();
    const { rows } = await inDatabase(
      to,
      `select t.state, t.result, t.params_sealed as params, (select count(*) from locks) as locks, (select bool_and(restored) from intents) as intents,
        (select d.restored = r.id from deployments d, restores r) as marked,
        (select string_agg(convert_from(data, 'UTF8'), '' order by start) from task_output where task_id = 3) as said
        from tasks t where id = 3`,
    );
    expect(rows[0]).toMatchObject({ state: "error", params: "{}", locks: "0", intents: true, marked: true });
    expect(rows[0]).toMatchObject({
      result: expect.stringMatching(/^The Director was restored from a backup of 2/),
    });
    const lines = (rows[0] as { said: string }).said
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines).toEqual([
      {},
      { time: expect.any(Number), error: { code: 100, message: expect.any(String) } },
    ]);
  });

  it("refuses a file of which any byte was changed, or that was cut off, and touches nothing", async () => {
    await inDatabase(from, AWKWARD);
    const fraction = fractionsOf("changed bytes of a backup");
    for (const passphrase of [undefined, "correct horse"]) {
      const path = join(dir.path, `whole-${passphrase}`);
      await take({ to: path, passphrase });
      const whole = await readFile(path);
      const content = passphrase === undefined ? gunzipSync(whole) : undefined;
      for (let round = 0; round < tries(6); round++) {
        const bytes = Buffer.from(whole);
        const at = Math.floor(fraction() * bytes.length);
        const cut = fraction() < 0.5;
        if (!cut) bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(fraction() * 8));
        await writeFile(file, cut ? bytes.subarray(0, at) : bytes);
        const given = passphrase === undefined ? {} : { passphrase };
        // Some bits of a gzip say nothing about what is in it: of its header, and of codes that nothing uses.
        if (!cut && content !== undefined && unzipped(bytes)?.equals(content)) continue;
        const error = await failure(bringBack(given));
        expect(errorText(error), `${cut ? "cut off" : "changed"} at ${at}`).toMatch(/DIK-00[356]/);
        expect(await exists(join(dir.path, "restored"))).toBe(false);
      }
    }
    expect(await rowsOf(to)).toEqual({});
  });

  it("refuses a file that was changed and packed again, so that only its digests tell", async () => {
    await inDatabase(from, AWKWARD);
    await take();
    const tar = gunzipSync(await readFile(file));
    const at = tar.indexOf("task 1");
    tar.write("task X", at);
    await writeFile(file, gzipSync(tar));
    expect(at).toBeGreaterThan(0);
    expect(errorText(await failure(bringBack()))).toMatch(/database\/tasks\S* was changed(?! while)/);
    expect(await exists(join(dir.path, "restored"))).toBe(false);
    expect(await rowsOf(to)).toEqual({});
  });

  it("an encrypted backup needs its passphrase, and shows nothing without it", async () => {
    await take({ passphrase: "correct horse" });
    const bytes = await readFile(file);
    expect(bytes.includes("CANARY") || bytes.includes("ustar")).toBe(false);
    expect(PassphraseNeeded.is(await failure(bringBack()))).toBe(true);
    expect(errorText(await failure(bringBack({ passphrase: "wrong" })))).toContain("DIK-006");
    await bringBack({ passphrase: "correct horse" });
    expect(await readFile(join(dir.path, "restored", "pki", "authority.pem"), "utf8")).toBe(
      "CANARY-authority",
    );
  });

  it("brings an older backup to the newest version, and refuses a newer one", async () => {
    await inDatabase(from, "drop schema public cascade; create schema public");
    await withClient(from.connection as pg.ClientConfig, async (client) => {
      await migrate(client, MIGRATIONS.slice(0, 18));
      await client.query(AWKWARD);
    });
    await take();
    await bringBack();
    const { rows } = await inDatabase(
      to,
      "select max(id) as id, (select count(*) from restores) as restores from migrations",
    );
    expect(rows).toEqual([{ id: MIGRATIONS.at(-1)?.id, restores: "1" }]);

    await inDatabase(from, "insert into migrations (id, name) values (999, 'tomorrow')");
    await inDatabase(to, "drop schema public cascade; create schema public");
    const newer = join(dir.path, "newer");
    await take({ to: newer });
    const error = await failure(
      bringBack({ from: { path: newer, passphrase: undefined }, stateDir: join(dir.path, "other") }),
    );
    expect(BackupNewer.is(error)).toBe(true);
    expect(await rowsOf(to)).toEqual({});
  });

  it("replaces neither a state directory nor a database, unless the directory is to be moved aside", async () => {
    await take();
    const restored = join(dir.path, "restored");
    await mkdir(restored);
    await writeFile(join(restored, "secrets.key"), "old");
    expect(StateThere.is(await failure(bringBack()))).toBe(true);
    const { movedTo } = await bringBack({ replace: true });
    expect(await readFile(join(movedTo ?? "", "secrets.key"), "utf8")).toBe("old");
    expect(await readdir(movedTo ?? "")).toEqual(["secrets.key"]);
    expect(await readFile(join(restored, "secrets.key"), "utf8")).toBe("07".repeat(32));
    await inDatabase(to, "update restores set started_at = now()");
    expect(DatabaseThere.is(await failure(bringBack({ stateDir: join(dir.path, "third") })))).toBe(true);
  });

  it("can be repeated where it was killed after the database was filled", async () => {
    await inDatabase(from, AWKWARD);
    await take();
    await bringBack({ stateDir: join(dir.path, "lost") });
    const before = await rowsOf(to);
    await mkdir(join(dir.path, "restored.restoring", "pki"), { recursive: true });
    await bringBack();
    expect(await rowsOf(to)).toEqual(before);
    expect((await readdir(dir.path)).sort()).toEqual(["director.backup", "lost", "restored", "state"]);
  });
});

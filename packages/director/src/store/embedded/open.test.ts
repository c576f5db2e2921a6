import { existsSync } from "node:fs";
import { chown, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { errorText } from "@slipway/kernel/errors";
import { Child } from "@slipway/testkit/child";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { NotADatabase, OtherMajor, StateDirInUse, StateUnusable } from "../errors.ts";
import { failure } from "../testing/failure.ts";
import { defaultStateDir, places } from "./places.ts";
import { startServer } from "./server.ts";
import { ask, bundledOpener, directory, later, opened, ROOT, stateDirectory } from "./testing/lab.ts";

sampleTests(1 / 4);

/** Reports whether a process lives. It may have no parent to reap it: a zombie counts as gone. */
const alive = async (pid: number) => (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")) !== "";
const serverPid = (line: string) => Number(/^pid (\d+)$/.exec(line)?.[1]);

async function killedParent(script: string, dir: string): Promise<number> {
  const child = Child.node(script, dir);
  const pid = serverPid(await child.line());
  await child.kill();
  return pid;
}

describe("one start after the other", () => {
  it("data is there again; nothing listens on the network; the server is gone in between", async () => {
    const dir = await directory();
    const first = await opened(dir, { durable: true });
    expect(first.adopted).toBe(false);
    await ask(first, "create table kept as select 42 as n");
    expect(await ask(first, "show listen_addresses")).toBe("");
    expect([await ask(first, "show fsync"), await ask(first, "show synchronous_commit")]).toEqual([
      "on",
      "on",
    ]);
    const pid = first.pid();
    await first.close();
    expect(await alive(pid)).toBe(false);
    const second = await opened(dir, { durable: true });
    expect(second.adopted).toBe(false);
    expect(await ask(second, "select n from kept")).toBe(42);
  });

  it("a directory too deep for a socket gets one elsewhere, and keeps it", async () => {
    const dir = join(await directory(), "d".repeat(60), "e".repeat(60));
    const first = await opened(dir);
    const { host } = first.connection;
    expect(host?.startsWith(join(tmpdir(), "slipway-"))).toBe(true);
    await first.close();
    const second = await opened(dir);
    expect(second.connection.host).toBe(host);
    later(() => rm(String(host), { recursive: true }));
  });
});

describe("after a kill", () => {
  it("the next Director adopts the bundle's server with all that was written, and stops it at the end", async () => {
    const script = await bundledOpener();
    const dir = await stateDirectory();
    const pid = await killedParent(script, dir);
    expect(await alive(pid)).toBe(true);
    const next = await opened(dir);
    expect(next.adopted).toBe(true);
    expect(next.pid()).toBe(pid);
    expect(await ask(next, "select n from kept")).toBe(42);
    await next.close();
    expect(await alive(pid)).toBe(false);
  });

  it("a server that was started in another way is replaced, not adopted", async () => {
    const script = await bundledOpener();
    const dir = await stateDirectory();
    const pid = await killedParent(script, dir);
    const next = await opened(dir, { settings: { work_mem: "5MB" } });
    expect(next.adopted).toBe(false);
    expect(await ask(next, "show work_mem")).toBe("5MB");
    expect(await alive(pid)).toBe(false);
  });

  it("the next start recovers if both the Director and its server were killed", async () => {
    const script = await bundledOpener();
    const dir = await stateDirectory();
    const pid = await killedParent(script, dir);
    process.kill(pid, "SIGKILL");
    const next = await opened(dir);
    expect(next.adopted).toBe(false);
    expect(await ask(next, "select 1")).toBe(1);
  });

  it("the server is started again if it alone was killed, and acknowledged writes are there", async () => {
    const dir = await stateDirectory();
    const embedded = await opened(dir, { durable: true });
    await ask(embedded, "create table kept as select 1 as n");
    const pid = embedded.pid();
    process.kill(pid, "SIGKILL");
    await expect.poll(() => ask(embedded, "select n from kept").catch(() => "down")).toBe(1);
    await expect.poll(() => embedded.pid()).not.toBe(pid);
  });

  it("an adopted server that dies is started again too", async () => {
    const script = await bundledOpener();
    const dir = await stateDirectory();
    await killedParent(script, dir);
    const next = await opened(dir);
    process.kill(next.pid(), "SIGKILL");
    await expect.poll(() => ask(next, "select 1").catch(() => "down")).toBe(1);
  });

  it("a half-made database is cleared away and a whole one is made", async () => {
    const script = await bundledOpener();
    const dir = await directory();
    const child = Child.node(script, dir);
    const root = join(dir, "database");
    const half = async () =>
      (await readdir(root).catch(() => [])).filter((name) => name.startsWith("data.new-"));
    await expect.poll(half).not.toEqual([]);
    await child.kill();
    expect(existsSync(join(root, "data"))).toBe(false);
    const next = await opened(dir);
    expect(await ask(next, "select 1")).toBe(1);
    expect((await half()).length).toBeLessThanOrEqual(1);
  });
});

it("a pid file of a process that is something else, of one that is gone, or empty keeps no server from starting", async () => {
  const dir = await stateDirectory();
  const data = join(dir, "database", "data");
  const { uid, gid } = await stat(data);
  for (const content of [`${process.pid}\n/elsewhere\n`, "99999999\n/elsewhere\n", ""]) {
    await writeFile(join(data, "postmaster.pid"), content);
    await chown(join(data, "postmaster.pid"), uid, gid);
    const next = await opened(dir);
    expect(await ask(next, "select 1")).toBe(1);
    await next.close();
  }
});

describe("refused", () => {
  it("a second Director on the same directory, naming the first, which goes on", async () => {
    const dir = await stateDirectory();
    const first = await opened(dir);
    const error = await failure(opened(dir));
    expect(StateDirInUse.is(error)).toBe(true);
    expect(errorText(error)).toContain(`process ${process.pid} holds it`);
    expect(await ask(first, "select 1")).toBe(1);
  });

  it("a data directory that is no database, which is left alone", async () => {
    const dir = await directory();
    const data = join(dir, "database", "data");
    await mkdir(data, { recursive: true });
    await writeFile(join(data, "thesis.txt"), "the only copy");
    if (ROOT) await chown(data, 65534, 65534);
    expect(NotADatabase.is(await failure(opened(dir)))).toBe(true);
    expect(await readFile(join(data, "thesis.txt"), "utf8")).toBe("the only copy");
  });

  it("a database of another major version", async () => {
    const dir = await stateDirectory();
    await writeFile(join(dir, "database", "data", "PG_VERSION"), "12\n");
    const error = await failure(opened(dir));
    expect(OtherMajor.is(error)).toBe(true);
    expect(String(error)).toContain("PostgreSQL 12");
  });

  it("a server that ends at once, every time at once", async () => {
    const at = places(await directory());
    await mkdir(at.root);
    const programs = { postgres: "false", initdb: "", version: "0", env: {} };
    const times = { clock: systemClock, startMs: 60_000, stopMs: 0 };
    const setup = {
      at,
      programs,
      user: undefined,
      access: { socket: at.root, password: "" },
      settings: {},
      ...times,
    };
    for (let round = 0; round < 30; round++) {
      const error = await failure(startServer(setup, new AbortController().signal));
      expect(errorText(error)).toContain("it ended with 1");
    }
  });

  it("a state directory that is a file, after which the lock is free", async () => {
    const file = join(await directory(), "state");
    await writeFile(file, "");
    expect(StateUnusable.is(await failure(opened(file)))).toBe(true);
  });
});

it("the default state directory is a system directory for root, the user's own otherwise", () => {
  expect(defaultStateDir(0, { HOME: "/root" })).toBe("/var/lib/slipway/director");
  expect(defaultStateDir(1000, { HOME: "/home/ada" })).toBe("/home/ada/.local/state/slipway/director");
  expect(defaultStateDir(1000, { HOME: "/home/ada", XDG_STATE_HOME: "/s" })).toBe("/s/slipway/director");
});

import { readdir, readFile, readlink, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleScript, Child } from "@slipway/testkit/child";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "./clock.ts";
import { messageTrail } from "./errors.ts";
import { acquireLock, LockTimeout, withLock } from "./lock-file.ts";
import { ownIdentity } from "./process-identity.ts";

/** Program of a child process: its second argument is what to do, its third is the lock. */
const CHILD = `
import { readFileSync, writeFileSync } from "node:fs";
import { systemClock } from "./clock.ts";
import { acquireLock, withLock } from "./lock-file.ts";
const [what, lock, file, times] = process.argv.slice(2);
const options = { clock: systemClock, waitMs: 240_000 };
const die = () => { process.kill(process.pid, "SIGKILL"); return new Promise(() => {}); };
if (what === "count") {
  for (let i = 0; i < Number(times); i++) {
    await withLock(lock, options, async () => {
      const before = Number(readFileSync(file, "utf8"));
      // Others get their chance to spoil it here.
      await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(file, String(before + 1));
    });
  }
} else if (what === "hold") {
  await acquireLock(lock, options);
  console.log("held");
  setInterval(() => {}, 1000);
} else if (what === "die holding") {
  await acquireLock(lock, options);
  await die();
} else if (what === "die waiting") {
  await acquireLock(lock, { ...options, clock: { ...systemClock, sleep: die } });
}
`;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let script: string;
let lock: string;
const patient = { clock: systemClock, waitMs: 240_000 };
const files = async () => (await readdir(directory.path)).sort();
/** Without the sockets of owners. */
const locks = async () => (await files()).filter((name) => !name.endsWith(".live"));

beforeAll(async () => {
  script = await bundleScript(CHILD);
});
beforeEach(async () => {
  directory = await temporaryDirectory();
  lock = join(directory.path, "state.lock");
});
afterEach(() => directory.remove());

/** The name a process that no longer exists would have left. */
async function deadOwner(nonce: string): Promise<string> {
  const child = new Child(process.execPath, ["-e", ""]);
  const { pid } = child;
  await child.end();
  return JSON.stringify({ ...ownIdentity(), pid, started: "1", nonce });
}

describe("between processes", () => {
  it("four counting under one lock lose no count, though others die holding it and waiting for it", async () => {
    const counter = join(directory.path, "counter");
    await writeFile(counter, "0");
    const counting = [1, 2, 3, 4].map(() => Child.node(script, "count", lock, counter, "50"));
    const dying = [1, 2, 3].map((n) => Child.node(script, n === 2 ? "die waiting" : "die holding", lock));
    expect(await Promise.all(counting.map((child) => child.end()))).toEqual([0, 0, 0, 0]);
    await Promise.all(dying.map((child) => child.end()));
    // Whoever comes next clears away what the last of the dead may have left.
    await withLock(lock, patient, async () => undefined);
    expect(await readFile(counter, "utf8")).toBe("200");
    expect(await files()).toEqual(["counter"]);
  });

  it("the lock of a process killed while it holds it is taken over", async () => {
    const child = Child.node(script, "hold", lock);
    expect(await child.line()).toBe("held");
    await child.kill();
    expect(await locks()).toEqual(["state.lock"]);
    const taken = await acquireLock(lock, patient);
    expect(JSON.parse(await readlink(lock))).toMatchObject({ pid: process.pid });
    await taken.release();
    expect(await files()).toEqual([]);
  });

  it("an owner nobody here can see is not waited for without end, and the operator is told", async () => {
    const unseen = { ...ownIdentity(), pid: 1, namespace: "pid:[1]", nonce: "0".repeat(24) };
    await symlink(JSON.stringify(unseen), lock);
    const options = { clock: fakeClock({ hurry: true }), waitMs: Number.POSITIVE_INFINITY };
    const error = await acquireLock(lock, options).catch((thrown: unknown) => thrown);
    expect(LockTimeout.is(error)).toBe(true);
    expect(messageTrail(error)).toContain("process 1 of another pid namespace holds it");
    expect(await locks()).toEqual(["state.lock"]);
  });

  it("releasing a lock that an operator removed is no failure", async () => {
    const held = await acquireLock(lock, patient);
    await unlink(lock);
    await expect(held.release()).resolves.toBeUndefined();
  });

  it("one killed while waiting leaves nothing", async () => {
    const held = await acquireLock(lock, patient);
    const child = Child.node(script, "die waiting", lock);
    expect(await child.end()).toBe("SIGKILL");
    expect(await locks()).toEqual(["state.lock"]);
    await held.release();
    expect(await files()).toEqual([]);
  });

  it("a living holder is waited for no longer than asked, and named", async () => {
    const child = Child.node(script, "hold", lock);
    await child.line();
    const clock = fakeClock({ hurry: true });
    const attempt = acquireLock(lock, { clock, waitMs: 5000 });
    const error = await attempt.catch((thrown: unknown) => thrown);
    expect(LockTimeout.is(error)).toBe(true);
    expect(messageTrail(error)).toContain(`process ${child.pid} holds it`);
    expect(LockTimeout.paramsOf(error)?.holder).toBe(`process ${child.pid}`);
    expect(messageTrail(error)).toMatch(/within 5\.\d s/);
    expect(await locks()).toEqual(["state.lock"]);
    await child.kill();
  });
});

describe("after crashes", () => {
  const nonce = (digit: string) => digit.repeat(24);

  it("a lock whose break-lock was left too is still taken over, and both go", async () => {
    await symlink(await deadOwner(nonce("a")), lock);
    await symlink(await deadOwner(nonce("b")), `${lock}.break-${nonce("a")}`);
    await withLock(lock, patient, async () => undefined);
    expect(await files()).toEqual([]);
  });

  it("break-locks of long ago are swept by the next breaking, at any depth", async () => {
    await symlink(await deadOwner(nonce("a")), lock);
    await symlink(await deadOwner(nonce("c")), `${lock}.break-${nonce("1")}`);
    await symlink(await deadOwner(nonce("d")), `${lock}.break-${nonce("1")}.break-${nonce("c")}`);
    await withLock(lock, patient, async () => undefined);
    expect(await files()).toEqual([]);
  });

  it("sweeping leaves the locks of the living and the files of others alone", async () => {
    const living = JSON.stringify({ ...ownIdentity(), nonce: nonce("e") });
    await symlink(await deadOwner(nonce("a")), lock);
    await symlink(living, `${lock}.break-${nonce("2")}`);
    await symlink(await deadOwner(nonce("f")), `${lock}2.break-${nonce("3")}`);
    await writeFile(`${lock}.break-notes`, "mine");
    await withLock(lock, patient, async () => undefined);
    expect(await files()).toEqual([
      `state.lock.break-${nonce("2")}`,
      "state.lock.break-notes",
      `state.lock2.break-${nonce("3")}`,
    ]);
  });

  it("many who find the same dead owner at once still hold the lock one at a time", async () => {
    await symlink(await deadOwner(nonce("a")), lock);
    let inside = 0;
    let most = 0;
    const one = () =>
      withLock(lock, patient, async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
      });
    await Promise.all(Array.from({ length: 20 }, one));
    expect(most).toBe(1);
    expect(await files()).toEqual([]);
  });

  it("a lock from before the last boot is taken over, even if its pid is alive", async () => {
    await symlink(JSON.stringify({ ...ownIdentity(), boot: "another", nonce: nonce("a") }), lock);
    await withLock(lock, patient, async () => undefined);
    expect(await files()).toEqual([]);
  });
});

describe("what is not a lock of ours is waited for and left alone", () => {
  it.each([
    ["text", "not json"],
    ["null", "null"],
    ["an owner without a nonce", '{"pid":1}'],
    ["a nonce that is a path", '{"pid":1,"boot":"x","nonce":"../../etc/passwd"}'],
  ])("a link holding %s", async (_, target) => {
    await symlink(target, lock);
    const attempt = acquireLock(lock, { clock: fakeClock({ hurry: true }), waitMs: 100 });
    await expect(attempt).rejects.toThrow("an unknown process holds it");
    expect(await readlink(lock)).toBe(target);
    expect(await locks()).toEqual(["state.lock"]);
  });

  it("a file", async () => {
    await writeFile(lock, "{}");
    const attempt = acquireLock(lock, { clock: fakeClock({ hurry: true }), waitMs: 100 });
    await expect(attempt).rejects.toThrow("an unknown process holds it");
    expect(await readFile(lock, "utf8")).toBe("{}");
  });
});

describe("in one process", () => {
  it("a lock excludes its own process too, until released", async () => {
    const first = await acquireLock(lock, patient);
    const impatient = { clock: fakeClock({ hurry: true }), waitMs: 10 };
    await expect(acquireLock(lock, impatient)).rejects.toThrow(`process ${process.pid} holds it`);
    await first.release();
    const second = await acquireLock(lock, impatient);
    await second.release();
  });

  it("releasing twice does not release the next holder's lock", async () => {
    const first = await acquireLock(lock, patient);
    await first.release();
    const second = await acquireLock(lock, patient);
    await first.release();
    expect(await locks()).toEqual(["state.lock"]);
    await second.release();
  });

  it("work that fails releases the lock and its error comes through", async () => {
    const work = withLock(lock, patient, () => Promise.reject(new Error("no room")));
    await expect(work).rejects.toThrow("no room");
    expect(await files()).toEqual([]);
  });

  it("waiting ends when it is called off, and leaves the holder's lock", async () => {
    const held = await acquireLock(lock, patient);
    const controller = new AbortController();
    const waiting = acquireLock(lock, { ...patient, signal: controller.signal });
    controller.abort(new Error("called off"));
    await expect(waiting).rejects.toThrow("called off");
    expect(await locks()).toEqual(["state.lock"]);
    await held.release();
  });

  it("a lock in a directory that does not exist is an error at once", async () => {
    await expect(acquireLock(join(directory.path, "no", "lock"), patient)).rejects.toThrow("ENOENT");
  });
});

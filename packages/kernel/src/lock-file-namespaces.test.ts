import { spawnSync } from "node:child_process";
import { chmod, chown, copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { bundleScript, Child } from "@slipway/testkit/child";
import { needs } from "@slipway/testkit/needs";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "./clock.ts";
import { acquireLock, lockLife } from "./lock-file.ts";

/** Prints `held`, or why the lock could not be had, and waits to be killed. */
const HOLDER = `
import { systemClock } from "./clock.ts";
import { acquireLock } from "./lock-file.ts";
const [lock, waitMs] = process.argv.slice(2);
const options = { clock: systemClock, waitMs: Number(waitMs), waitForUnseenMs: Number(waitMs) };
const why = await acquireLock(lock, options).then(() => "held", (error) => error.message);
console.log(why);
setInterval(() => {}, 1000);
`;

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
/** A container's: its own pid and network namespaces, which end with its first process. */
const CONTAINER = ["--pid", "--net", "--fork", "--mount-proc", "--kill-child"];
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
const AS_USER = [...(isRoot ? AS_NOBODY : []), "unshare", "--user", "--map-root-user", ...CONTAINER];
const AS_ROOT = ["unshare", ...CONTAINER];

const works = ([program = "", ...args]: readonly string[]) =>
  spawnSync(program, [...args, "true"]).status === 0;
const ways = [
  { who: "root", command: AS_ROOT, runs: isRoot && needs("pid-namespaces", works(AS_ROOT)) },
  { who: "an ordinary user", command: AS_USER, runs: needs("userns", works(AS_USER)) },
];

let dir: string;
let deep: string;
let bundled: string;
let children: Child[];
beforeAll(async () => {
  bundled = await bundleScript(HOLDER);
});
beforeEach(async () => {
  dir = await passableDirectory("lock");
  deep = join(dir, "d".repeat(120));
  children = [];
  await mkdir(deep);
  // The ordinary user reads it here, and not where bundles are kept.
  await copyFile(bundled, script(dir));
  for (const one of [dir, deep]) {
    await chmod(one, 0o777);
    if (isRoot) await chown(one, NOBODY, NOBODY);
  }
});
afterEach(async () => {
  for (const child of children) await child.kill();
  await rm(dir, { recursive: true, force: true });
});

const script = (place: string): string => join(place, "holder.mjs");

function hold(command: readonly string[], lock: string, waitMs: number): Child {
  const [program = "", ...args] = [...command, process.execPath, script(dir), lock, String(waitMs)];
  const child = new Child(program, args);
  children.push(child);
  return child;
}

describe.each(ways.filter(({ runs }) => runs))(
  "a lock held in another pid namespace by $who",
  ({ command }) => {
    it.each(["short", "long"])(
      "excludes a third namespace until its holder is killed, at a %s path",
      async (length) => {
        const lock = join(length === "short" ? dir : deep, "state.lock");
        const first = hold(command, lock, 60_000);
        expect(await first.line()).toBe("held");
        const second = hold(command, lock, 200);
        expect(await second.line()).toMatch(/of another pid namespace holds it$/);
        expect(await lockLife(lock)).toBe("alive");
        await first.kill();
        await expect.poll(() => lockLife(lock)).toBe("dead");
        const third = hold(command, lock, 60_000);
        expect(await third.line()).toBe("held");
      },
    );

    it("is taken over from here once its holder is killed, and leaves no file", async () => {
      const lock = join(dir, "state.lock");
      const holder = hold(command, lock, 60_000);
      expect(await holder.line()).toBe("held");
      await holder.kill();
      const taken = await acquireLock(lock, { clock: systemClock, waitMs: 60_000 });
      await taken.release();
      expect((await readdir(dir)).sort()).toEqual(["d".repeat(120), "holder.mjs"]);
      expect(await lockLife(lock)).toBe("free");
    });
  },
);

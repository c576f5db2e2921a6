import { execFile, spawnSync } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { packProgram, removeCaches } from "./code-cache.mjs";

const SETTINGS = {
  ...{ bundle: true, platform: "node", target: "node20", format: "cjs" },
  ...{ minifySyntax: true, minifyWhitespace: true, supported: { "dynamic-import": false } },
};
/** A string, a regular expression and a thread, each of which the packing could break. */
const PROGRAM = `#!/usr/bin/env node
import { isMainThread, Worker } from "node:worker_threads";
import { greeting } from "./greeting.ts";
const [word = "nobody"] = process.argv.slice(2);
if (!isMainThread) console.log("a thread");
else if (word === "thread") new Worker(__filename);
else if (word === "library") void import("library").then(({ name }) => console.log(name));
else if (word === "later") void import("./later.ts").then(({ later }) => console.log(later()));
else console.log(greeting(word), "/* */ ü".length, /a*/.exec("aab")?.[0]);
`;

describe.each([{ split: false }, { split: true }])("a packed program (split: $split)", ({ split }) => {
  let place = { path: "", remove: async () => {} };
  const dir = () => place.path;
  const from = () => join(dir(), "program.ts");
  const program = () => join(dir(), "out", "program.cjs");
  const cache = () => `${program()}.${process.version}-${process.arch}.cache`;
  const pack = () => packProgram({ from: from(), to: program(), split, settings: SETTINGS });
  const run = (args: string[] = ["you"], flags: string[] = []) => {
    const env = { PATH: process.env.PATH };
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, program(), ...args], {
      ...{ env, encoding: "utf8" },
    });
    return { status, stdout, stderr };
  };
  const GREETS = { status: 0, stdout: "hello you 7 aa\n", stderr: "" };
  /** Sees whether the cache was written again. */
  const written = async () => (await stat(cache())).ino;

  beforeEach(async () => {
    place = await temporaryDirectory();
    await mkdir(join(dir(), "out"), { recursive: true });
    await writeFile(from(), PROGRAM);
    await writeFile(
      join(dir(), "greeting.ts"),
      'export const greeting = (to: string): string => "hello " + to;',
    );
    await writeFile(
      join(dir(), "later.ts"),
      'import { greeting } from "./greeting.ts"; export const later = () => greeting("later");',
    );
    await mkdir(join(dir(), "node_modules", "library"), { recursive: true });
    await writeFile(join(dir(), "node_modules", "library", "index.js"), 'exports.name = "a library";');
    await pack();
    await removeCaches(program());
  });

  afterEach(() => place.remove());

  test("imports names of a CommonJS library dynamically", () => {
    expect(run(["library"])).toEqual({ status: 0, stdout: "a library\n", stderr: "" });
  });

  test("writes its cache at the first start and keeps it", async () => {
    expect(run()).toEqual(GREETS);
    const first = await written();
    expect(run()).toEqual(GREETS);
    expect(await written()).toBe(first);
    expect((await readdir(join(dir(), "out"))).filter((file) => /cache\.\d+$/.test(file))).toEqual([]);
  });

  test("loads dynamic imports and starts itself as a thread", () => {
    for (let round = 0; round < 2; round++) {
      expect(run(["later"])).toEqual({ status: 0, stdout: "hello later\n", stderr: "" });
      expect(run(["thread"])).toEqual({ status: 0, stdout: "a thread\n", stderr: "" });
    }
  });

  test.each<[string, (bytes: Buffer) => Buffer | string]>([
    ["empty", () => ""],
    ["cut off", (bytes) => bytes.subarray(0, bytes.length - 100)],
    ["damaged", (bytes) => Buffer.concat([bytes.subarray(0, -400), Buffer.alloc(400, 0x55)])],
    ["of another program", (bytes) => bytes.toString("latin1").replace(/"id":"\w{4}/, '"id":"0000')],
    ["not a cache", () => "null\n"],
  ])("replaces a cache that is %s", async (_, spoil) => {
    run();
    await writeFile(cache(), spoil(await readFile(cache())), "latin1");
    const spoiled = await written();
    expect(run()).toEqual(GREETS);
    expect(await written()).not.toBe(spoiled);
    expect(run()).toEqual(GREETS);
  });

  test("ignores the cache of its former code", async () => {
    run();
    await writeFile(
      join(dir(), "greeting.ts"),
      'export const greeting = (to: string): string => "howdy " + to;',
    );
    await pack();
    expect(run().stdout).toBe("howdy you 7 aa\n");
  });

  test("replaces a cache that others may write", async () => {
    run();
    await chmod(cache(), 0o666);
    const open = await written();
    expect(run()).toEqual(GREETS);
    expect(await written()).not.toBe(open);
  });

  test("leaves the cache alone if V8 runs with other flags", async () => {
    run();
    const first = await written();
    expect(run(["you"], ["--no-opt"])).toEqual(GREETS);
    expect(await written()).toBe(first);
  });

  test("starts where nothing can be written", async () => {
    const out = join(dir(), "out");
    const sealed = join(dir(), "sealed");
    await mkdir(sealed);
    for (const file of await readdir(out)) await copyFile(join(out, file), join(sealed, file));
    await chmod(sealed, 0o555);
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    await chmod(dir(), 0o755);
    const { stdout } = spawnSync(process.execPath, [join(sealed, "program.cjs"), "you"], {
      ...{ env: { PATH: process.env.PATH }, encoding: "utf8", ...nobody },
    });
    expect(stdout).toBe(GREETS.stdout);
    expect((await readdir(sealed)).filter((file) => file.includes("cache"))).toEqual([]);
    // An ordinary user can remove nothing from a directory that is sealed.
    await chmod(sealed, 0o755);
  });

  test("can be started several times at once for the first time", async () => {
    const start = () => promisify(execFile)(process.execPath, [program(), "you"], { env: {} });
    const all = await Promise.all(Array.from({ length: 6 }, start));
    expect(new Set(all.map(({ stdout }) => stdout))).toEqual(new Set([GREETS.stdout]));
    expect(run()).toEqual(GREETS);
  });
});

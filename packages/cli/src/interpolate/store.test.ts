import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { describe, expect, it } from "vitest";
import { openStore, type VarsStore } from "./store.ts";
import { ownDirectory } from "./testing/own-directory.ts";

const tools = { clock: systemClock, random: systemRandom, bits: 1024 };
const nothing = () => undefined;
const inDir = async () => join(await ownDirectory(), "creds.yml");
const password = (store: VarsStore, name: string) =>
  store.generate({ name, type: "password", options: null }, nothing);
const read = async (path: string) => parseYaml(await readFile(path, "utf8"), path) as Record<string, unknown>;

describe("the store of generated variables", () => {
  it("is a flat map that only its owner may read, and nothing else is left", async () => {
    const path = await inDir();
    const store = await openStore(path, tools);
    await password(store, "a");
    await password(store, "b.c");
    expect(await read(path)).toEqual({ a: store.find("a")?.value, "b.c": store.find("b.c")?.value });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(path, ".."))).toEqual(["creds.yml"]);
  });

  it("is made with its directory, and only when something is generated", async () => {
    const path = join(await inDir(), "deep", "creds.yml");
    const store = await openStore(path, tools);
    await expect(stat(path)).rejects.toThrow();
    await password(store, "a");
    expect(Object.keys(await read(path))).toEqual(["a"]);
  });

  it("keeps what is there, word for word", async () => {
    const path = await inDir();
    const before = "# ours\nb: 010 # octal\n\nbig: 12345678901234567890\na:\n  x: 'y'\n";
    await writeFile(path, before);
    const store = await openStore(path, tools);
    for (const name of ["b", "a", "new"]) await password(store, name);
    const after = await readFile(path, "utf8");
    expect(after.startsWith(before)).toBe(true);
    expect(after.slice(before.length)).toMatch(/^new: "?[a-z0-9]{20}"?\n$/);
    expect(store.find("a")).toEqual({ value: { x: "y" } });
  });

  it.each([
    ["nothing", ""],
    ["a comment", "# none yet"],
    ["an empty map", "{}\n"],
    ["a map in one line", "{a: 1}"],
    ["no last end of line", "a: 1"],
    ["a marked document", "---\na: 1\n...\n"],
    ["an open block", "a: |+\n  x\n\n"],
  ])("takes a new entry where there was %s", async (_, text) => {
    const path = await inDir();
    await writeFile(path, text);
    const store = await openStore(path, tools);
    await password(store, "new");
    const before = (parseYaml(text, "before") ?? {}) as Record<string, unknown>;
    expect(await read(path)).toEqual({ ...before, new: expect.stringMatching(/^[a-z0-9]{20}$/) });
  });

  it("loses nothing when several write at once, and makes each only once", async () => {
    const path = await inDir();
    const stores = await Promise.all(Array.from({ length: 8 }, () => openStore(path, tools)));
    const names = ["a", "b", "c", "d"];
    await Promise.all(
      stores.flatMap((store, i) => [password(store, names[i % 4] ?? ""), password(store, `own${i}`)]),
    );
    const kept = await read(path);
    expect(Object.keys(kept).sort()).toEqual([...names, ...stores.map((_, i) => `own${i}`)].sort());
    for (const [i, store] of stores.entries()) {
      expect(store.find(names[i % 4] ?? "")?.value).toBe(kept[names[i % 4] ?? ""]);
    }
  });

  it("is written through a link", async () => {
    const real = await inDir();
    const link = await inDir();
    await writeFile(real, "a: 1\n");
    await symlink(real, link);
    await password(await openStore(link, tools), "new");
    expect(Object.keys(await read(real))).toEqual(["a", "new"]);
  });

  it("leaves a file unchanged that is not a map or not YAML", async () => {
    for (const text of ["- a\n", "a: [\n"]) {
      const path = await inDir();
      await writeFile(path, text);
      await expect(openStore(path, tools)).rejects.toThrow(path);
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });

  it("an error of the disk names the file", async () => {
    const path = await inDir();
    await mkdir(path);
    await chmod(path, 0o755);
    await expect(openStore(path, tools)).rejects.toThrow(/reading the variables store .*creds\.yml failed/);
  });
});

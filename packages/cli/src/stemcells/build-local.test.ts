import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildLocalStemcell, HOST_IMAGE, type LocalStemcellOrder } from "./build-local.ts";
import { inspectStemcell } from "./inspect-archive.ts";

let root: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: root, remove } = await temporaryDirectory());
});
afterEach(() => remove());

const build = (to: string, order: Partial<LocalStemcellOrder> = {}) =>
  buildLocalStemcell({ to: join(root, to), clock: systemClock, ...order });
const tar = async (...args: readonly string[]) => (await systemExec("tar", args)).stdout;

describe("the stemcell of the local cloud", () => {
  it("is a stemcell for the local CPI whose image means the host's own files", async () => {
    const built = await build("s.tgz");
    expect(built).toMatchObject({ name: "slipway-local", version: "1.0", os: "local", apiVersion: 3 });
    const { stemcell, light } = await inspectStemcell(built.file);
    expect(stemcell).toMatchObject({ name: "slipway-local", version: "1.0", operatingSystem: "local" });
    expect(stemcell).toMatchObject({ apiVersion: 3, formats: ["slipway-local"] });
    expect(light).toBe(false);
    expect(await tar("-xzOf", built.file, "image")).toBe(HOST_IMAGE);
    const bytes = await readFile(built.file);
    expect(built).toMatchObject({
      size: bytes.length,
      sha1: createHash("sha1").update(bytes).digest("hex"),
    });
  });

  it("has the same bytes whenever it is built", async () => {
    const [one, two] = [await build("one.tgz"), await build("two.tgz")];
    expect(await readFile(one.file)).toEqual(await readFile(two.file));
  });

  it("has its manifest first, belongs to root and has a list of packages, or says that there is none", async () => {
    const { file } = await build("s.tgz");
    expect((await tar("-tzf", file)).split("\n").slice(0, 3)).toEqual([
      "stemcell.MF",
      "packages.txt",
      "image",
    ]);
    const exec: typeof systemExec = () => Promise.reject(new Error("not found"));
    const none = await build("none.tgz", { exec });
    expect(await tar("-xzOf", none.file, "packages.txt")).toMatch(/no dpkg/);
  });

  it("gets the name, version and API version it is given", async () => {
    const { file } = await build("s.tgz", { name: "mine", version: "1.10", apiVersion: 1 });
    expect((await inspectStemcell(file)).stemcell).toMatchObject({
      name: "mine",
      version: "1.10",
      apiVersion: 1,
    });
  });

  it("is refused with an invalid name or path, and the old file stays", async () => {
    await writeFile(join(root, "s.tgz"), "before");
    await expect(build("s.tgz", { name: "a/b" })).rejects.toMatchObject({ code: "CLS-005" });
    await expect(build("no/s.tgz")).rejects.toMatchObject({
      code: "CLS-003",
      message: expect.stringContaining("its directory does not exist"),
    });
    expect(await readdir(root)).toEqual(["s.tgz"]);
    expect(await readFile(join(root, "s.tgz"), "utf8")).toBe("before");
  });

  it("may have a root file system of its own, from a directory or a tar, with the same bytes each time", async () => {
    const tree = join(root, "tree");
    await mkdir(join(tree, "etc"), { recursive: true });
    await writeFile(join(tree, "etc", "motd"), "hello");
    const [one, two] = [await build("1.tgz", { fromRoot: tree }), await build("2.tgz", { fromRoot: tree })];
    expect(one.sha1).toBe(two.sha1);
    const { stemcell } = await inspectStemcell(one.file);
    expect(stemcell.formats).toContain("general-tar");
    await tar("-xzf", one.file, "-C", root, "image");
    expect(await tar("-xzOf", join(root, "image"), "./etc/motd")).toBe("hello");
    const three = await build("3.tgz", { fromRoot: join(root, "image") });
    expect(three.sha1).toBe(one.sha1);
    expect((await readdir(root)).sort()).toEqual(["1.tgz", "2.tgz", "3.tgz", "image", "tree"]);
  });

  it("is not made from something that holds no root file system", async () => {
    await writeFile(join(root, "notes.txt"), "no tar");
    for (const fromRoot of [join(root, "notes.txt"), join(root, "nothing")])
      await expect(build("s.tgz", { fromRoot })).rejects.toMatchObject({ code: "CLS-006" });
    expect(await readdir(root)).toEqual(["notes.txt"]);
  });
});

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fileEntry, IMAGE, MANIFEST, tarball } from "@slipway/testkit/tarball";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { unpackTar } from "modern-tar";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inspectStemcell } from "./inspect-archive.ts";
import { type RepackOrder, repackStemcell } from "./repack.ts";

let root: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: root, remove } = await temporaryDirectory());
  const entries = [
    fileEntry("./image", IMAGE),
    fileEntry("./packages.txt", "lots"),
    fileEntry("./stemcell.MF", `${MANIFEST}strange: key\n`),
  ];
  await writeFile(join(root, "s.tgz"), await tarball(entries));
});
afterEach(() => remove());

const repack = (order: Partial<RepackOrder> = {}) =>
  repackStemcell({ from: join(root, "s.tgz"), to: join(root, "t.tgz"), ...order });
async function filesIn(name: string): Promise<Readonly<Record<string, string>>> {
  const entries = await unpackTar(gunzipSync(await readFile(join(root, name))));
  return Object.fromEntries(
    entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString()]),
  );
}
const stemcell = async (name = "t.tgz") => (await inspectStemcell(join(root, name))).stemcell;

describe("a repacked stemcell", () => {
  it("has every file it had, its manifest first, and only the keys that are known", async () => {
    await repack();
    const files = await filesIn("t.tgz");
    expect(Object.keys(files)).toEqual(["stemcell.MF", "image", "packages.txt"]);
    expect(files).toMatchObject({ image: IMAGE, "packages.txt": "lots" });
    expect(files["stemcell.MF"]).not.toContain("strange");
    expect(await stemcell()).toEqual(await stemcell("s.tgz"));
  });

  it("gets name, version and formats, and its cloud properties key by key", async () => {
    await repack({
      name: "other",
      version: "1.20",
      formats: ["a", "b"],
      cloudProperties: "{disk: 3, x: {y: 1}}",
    });
    expect(await stemcell()).toMatchObject({
      name: "other",
      version: "1.20",
      formats: ["a", "b"],
      operatingSystem: "tiny-os",
      cloudProperties: { infrastructure: "tiny", disk: 3, x: { y: 1 } },
    });
  });

  it("is light with an empty image, and its digest is that of the empty image", async () => {
    await repack({ emptyImage: true });
    const { light, imageSha1, stemcell } = await inspectStemcell(join(root, "t.tgz"));
    expect(light).toBe(true);
    expect(stemcell.digest).toBe(imageSha1);
    expect(await filesIn("t.tgz")).toMatchObject({ image: "", "packages.txt": "lots" });
  });

  it("has the same bytes each time, and may take the place of the one it came from", async () => {
    const [one, two] = [await repack(), await repack()];
    expect(one).toEqual(two);
    await repack({ to: join(root, "s.tgz"), version: "2" });
    expect(await stemcell("s.tgz")).toMatchObject({ version: "2" });
  });

  it.each([
    [{ name: "a b" }, "CLS-005", /letters, digits/],
    [{ cloudProperties: "[1]" }, "CLS-005", /YAML of a map/],
    [{ cloudProperties: "{" }, "CLS-005", /line 1/],
    [{ to: "/no/such/directory/t.tgz" }, "CLS-001", /nothing can be unpacked in/],
  ] as const)("is not made with %j", async (order, code, why) => {
    await expect(repack(order)).rejects.toMatchObject({ code, message: expect.stringMatching(why) });
    expect(await readdir(root)).toEqual(["s.tgz"]);
  });

  it("is not made from a hostile one, and what was there stays", async () => {
    await writeFile(join(root, "t.tgz"), "before");
    const entries = [fileEntry("image", IMAGE), fileEntry("stemcell.MF", MANIFEST), fileEntry("../x", "")];
    await writeFile(join(root, "s.tgz"), await tarball(entries));
    await expect(repack()).rejects.toMatchObject({ code: "CLS-001" });
    expect(await readFile(join(root, "t.tgz"), "utf8")).toBe("before");
    expect((await readdir(root)).sort()).toEqual(["s.tgz", "t.tgz"]);
  });
});

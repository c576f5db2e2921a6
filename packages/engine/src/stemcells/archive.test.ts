import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { fileEntry, IMAGE, MANIFEST, stemcellEntries, tarball } from "@slipway/testkit/tarball";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import type { TarEntry } from "modern-tar";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unpackStemcell } from "./archive.ts";

let root: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: root, remove } = await temporaryDirectory());
  await mkdir(join(root, "out"));
});
afterEach(() => remove());

async function unpack(bytes: Buffer, free = 1 << 30) {
  await writeFile(join(root, "stemcell.tgz"), bytes);
  return unpackStemcell(join(root, "stemcell.tgz"), join(root, "out"), { freeSpace: async () => free });
}
const link = (name: string, linkname: string, type: "symlink" | "link"): TarEntry => ({
  header: { name, linkname, type, size: 0 },
});

describe("a stemcell archive", () => {
  it("is unpacked and read", async () => {
    const { stemcell, imagePath } = await unpack(await tarball(stemcellEntries()));
    expect(stemcell).toMatchObject({ name: "tiny", version: "1.10", apiVersion: 3, formats: ["tiny-tar"] });
    expect(await readFile(imagePath, "utf8")).toBe(IMAGE);
  });

  it("may have ./ in front, directories, other files and a light image; only the two files are kept", async () => {
    const entries: TarEntry[] = [
      { header: { name: "./", type: "directory", size: 0 } },
      fileEntry("./packages.txt", "lots"),
      fileEntry("./stemcell.MF", MANIFEST),
      fileEntry("./image", ""),
    ];
    const { imagePath } = await unpack(await tarball(entries));
    expect(await readFile(imagePath, "utf8")).toBe("");
    expect((await readdir(join(root, "out"))).sort()).toEqual(["image", "stemcell.MF"]);
  });

  const hostile: readonly [string, TarEntry[], RegExp][] = [
    ["an absolute path", [fileEntry("/etc/cron.d/x", "x")], /"\/etc\/cron\.d\/x" is an absolute path/],
    ["a Windows path", [fileEntry("c:/x", "x")], /absolute path/],
    ["a way out", [fileEntry("a/../../x", "x")], /leads out of the archive/],
    ["a way out with backslashes", [fileEntry("a\\..\\..\\x", "x")], /leads out of the archive/],
    ["a symlink", [link("a", "/etc", "symlink")], /is a symlink, not a file/],
    ["image as a symlink", [link("image", "/etc/passwd", "symlink")], /is a symlink, not a file/],
    ["a hard link", [link("image", "/etc/passwd", "link")], /is a link, not a file/],
    ["a device", [{ header: { name: "sda", type: "block-device", size: 0 } }], /is a block-device/],
    ["a fifo", [{ header: { name: "pipe", type: "fifo", size: 0 } }], /is a fifo/],
    ["image twice", [fileEntry("./image", "other")], /"image" stands in it twice/],
    ["image as a directory", [{ header: { name: "image/", type: "directory", size: 0 } }], /is a directory/],
    ["control characters", [fileEntry("a\u0007b", "x")], /control characters/],
    ["too many entries", Array.from({ length: 10_001 }, (_, i) => fileEntry(`f${i}`, "")), /more than 10000/],
    [
      "a sparse file",
      [{ header: { name: "s", type: "file", size: 1, pax: { "GNU.sparse.major": "1" } }, body: "x" }],
      /sparse/,
    ],
  ];
  it.each(hostile)("rejects an archive with %s whole, with error 50000", async (_what, extra, why) => {
    const bytes = await tarball([...stemcellEntries(), ...extra]);
    await expect(unpack(bytes)).rejects.toMatchObject({ number: 50000, message: expect.stringMatching(why) });
    expect(await readdir(join(root, "out"))).toEqual([]);
  });

  it.each([
    ["no stemcell.MF", [fileEntry("image", "x")], 50000, /holds no stemcell\.MF/],
    ["no image", [fileEntry("stemcell.MF", MANIFEST)], 50001, /tiny\/1\.10 holds no file called image/],
    ["a huge MF", [fileEntry("stemcell.MF", "#".repeat(2 << 20))], 50000, /stemcell\.MF is too large/],
    ["an MF that is not YAML", [fileEntry("stemcell.MF", "a: [")], 50000, /stemcell\.MF, line 1/],
    [
      "an MF without a name",
      [fileEntry("stemcell.MF", "version: '1'\nsha1: a")],
      50000,
      /name: it is missing/,
    ],
    ["nothing", [], 50000, /holds no stemcell\.MF/],
  ])("gets a clear error for an archive with %s", async (_what, entries, number, why) => {
    await expect(unpack(await tarball(entries))).rejects.toMatchObject({
      number,
      message: expect.stringMatching(why),
    });
    expect(await readdir(join(root, "out"))).toEqual([]);
  });

  it("cut off anywhere is refused, never half read", async () => {
    const bytes = await tarball([fileEntry("noise", "x".repeat(5000)), ...stemcellEntries()]);
    const tar = Buffer.concat([bytes]);
    for (const part of [0, 1, 9, 11, 40, bytes.length >> 1, bytes.length - 9, bytes.length - 1]) {
      await expect(unpack(tar.subarray(0, part)), `${part} bytes`).rejects.toMatchObject({ number: 50000 });
    }
  });

  it("rejects a tar that is cut off inside a valid gzip", async () => {
    const { gunzipSync } = await import("node:zlib");
    const whole = gunzipSync(await tarball(stemcellEntries()));
    for (const part of [512, 700, 1024, 1536, 1600, 2048]) {
      await expect(unpack(gzipSync(whole.subarray(0, part))), `${part}`).rejects.toMatchObject({
        number: 50000,
      });
    }
  });

  it("rejects an archive that is not gzip, or is damaged inside, and says so", async () => {
    await expect(unpack(Buffer.from("MZ not a stemcell"))).rejects.toThrow(/not gzip, or damaged/);
    const bytes = await tarball(stemcellEntries());
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0xff;
    await expect(unpack(bytes)).rejects.toMatchObject({ number: 50000 });
  });

  it.each(["image", "other"])(
    "stops early with error 500001 if the archive unpacks to more than the disk holds (%s)",
    async (name) => {
      const bytes = await tarball([
        fileEntry("stemcell.MF", MANIFEST),
        fileEntry(name, "\0".repeat(8 << 20)),
        fileEntry("rest", ""),
      ]);
      await expect(unpack(bytes, 1 << 20)).rejects.toMatchObject({
        number: 500001,
        message: expect.stringContaining("1 MiB that may be used"),
      });
      expect(await readdir(join(root, "out"))).toEqual([]);
    },
  );
});

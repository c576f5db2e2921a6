import { createHash } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { fileEntry, IMAGE, MANIFEST, stemcellEntries, tarball } from "@slipway/testkit/tarball";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import type { TarEntry } from "modern-tar";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inspectStemcell } from "./inspect-archive.ts";

let root: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: root, remove } = await temporaryDirectory());
});
afterEach(() => remove());

async function inspect(bytes: Uint8Array, largest?: number) {
  const file = join(root, "s.tgz");
  await writeFile(file, bytes);
  return await inspectStemcell(file, largest === undefined ? {} : { largest });
}
const refused = (bytes: Uint8Array, why: RegExp, code = "CLS-001") =>
  expect(inspect(bytes, 1 << 24)).rejects.toMatchObject({ code, message: expect.stringMatching(why) });
const odd = (header: Partial<TarEntry["header"]> & { name: string }): TarEntry => ({
  header: { size: 0, ...header },
});

describe("a stemcell file", () => {
  it.each([
    ["its manifest first", stemcellEntries()],
    ["its image first, as upstream packs it", stemcellEntries().reverse()],
    [
      "names with ./ and files nobody asks for",
      [
        odd({ name: "./", type: "directory" }),
        fileEntry("./packages.txt", "lots"),
        fileEntry("./image", IMAGE),
        fileEntry("./stemcell.MF", MANIFEST),
      ],
    ],
  ])("is read with %s", async (_how, entries) => {
    expect(await inspect(await tarball(entries))).toMatchObject({
      stemcell: { name: "tiny", version: "1.10", apiVersion: 3, formats: ["tiny-tar"] },
      light: false,
      imageSize: IMAGE.length,
      imageSha1: createHash("sha1").update(IMAGE).digest("hex"),
    });
    expect(await readdir(root)).toEqual(["s.tgz"]);
  });

  it("is light when its image is empty, whatever its digest says", async () => {
    const bytes = await tarball([fileEntry("stemcell.MF", MANIFEST), fileEntry("image", "")]);
    expect(await inspect(bytes)).toMatchObject({ light: true, imageSize: 0 });
  });

  it("is refused when its image is not the one of its digest, of whatever kind", async () => {
    const other = [fileEntry("stemcell.MF", MANIFEST), fileEntry("image", "other bits")];
    await refused(await tarball(other), /its sha1 digest is [0-9a-f]{40}, not/, "CLS-002");
    const sha256 = createHash("sha256").update(IMAGE).digest("hex");
    const manifest = MANIFEST.replace(/sha1: .*/, `sha1: sha256:${sha256}`);
    const good = [fileEntry("stemcell.MF", manifest), fileEntry("image", IMAGE)];
    await expect(inspect(await tarball(good))).resolves.toBeDefined();
    const bad = [fileEntry("stemcell.MF", manifest), fileEntry("image", "other bits")];
    await refused(await tarball(bad), /its sha256 digest/, "CLS-002");
  });

  const hostile: readonly [string, TarEntry, RegExp][] = [
    ["an absolute path", fileEntry("/etc/cron.d/x", "x"), /absolute path/],
    ["a way out", fileEntry("a/../../x", "x"), /leads out of the archive/],
    ["a way out with backslashes", fileEntry("a\\..\\..\\x", "x"), /leads out of the archive/],
    ["a symlink", odd({ name: "image2", linkname: "/etc/passwd", type: "symlink" }), /is a symlink/],
    ["a hard link", odd({ name: "x", linkname: "/etc/passwd", type: "link" }), /is a link/],
    ["a device", odd({ name: "sda", type: "block-device" }), /is a block-device/],
    ["a fifo", odd({ name: "pipe", type: "fifo" }), /is a fifo/],
    ["image twice", fileEntry("./image", "other"), /"image" stands in it twice/],
    ["other files twice", fileEntry("packages.txt", "other"), /"packages.txt" stands in it twice/],
    ["image as a directory", odd({ name: "image/", type: "directory" }), /image is a directory/],
    ["control characters", fileEntry("a\u001b[2Jb", "x"), /control characters/],
    ["a file beyond all measure", fileEntry("huge", "\0".repeat((1 << 24) + 1)), /more than the 16 MiB/],
  ];
  it.each(hostile)("is refused with %s", async (_what, entry, why) => {
    await refused(await tarball([...stemcellEntries(), fileEntry("packages.txt", ""), entry]), why);
  });

  it("is refused when its files together are beyond all measure", async () => {
    const parts = [1, 2, 3].map((part) => fileEntry(`part${part}`, "\0".repeat(6 << 20)));
    await refused(await tarball([...stemcellEntries(), ...parts]), /more than the 16 MiB/);
  });

  it.each([
    ["no stemcell.MF", [fileEntry("image", "x")], /holds no stemcell\.MF/],
    ["no image", [fileEntry("stemcell.MF", MANIFEST)], /holds no file called image/],
    ["an MF that is not YAML", [fileEntry("stemcell.MF", "a: ["), fileEntry("image", "")], /line 1/],
    ["a huge MF", [fileEntry("stemcell.MF", "#".repeat(2 << 20))], /stemcell\.MF is too large/],
    [
      "an MF without a name",
      [fileEntry("stemcell.MF", "version: '1'\nsha1: a"), fileEntry("image", "")],
      /name/,
    ],
    ["nothing", [], /holds no stemcell\.MF/],
  ])("with %s says so", async (_what, entries, why) => {
    await refused(await tarball(entries), why);
  });

  it("cut off anywhere is refused, be it the gzip or the tar in it", async () => {
    const bytes = await tarball([fileEntry("noise", "x".repeat(5000)), ...stemcellEntries()]);
    for (const part of [0, 1, 9, 11, 40, bytes.length >> 1, bytes.length - 9, bytes.length - 1])
      await refused(bytes.subarray(0, part), /./);
    const whole = gunzipSync(await tarball(stemcellEntries()));
    for (const part of [512, 700, 1024, 1536, 1600, 2048])
      await refused(gzipSync(whole.subarray(0, part)), /./);
  });

  it("is refused if it is missing, is not gzip or has a bad checksum", async () => {
    await refused(Buffer.from("MZ not a stemcell"), /not gzip, or damaged/);
    const tar = gunzipSync(await tarball(stemcellEntries()));
    tar[3] = (tar[3] ?? 0) ^ 0xff;
    await refused(gzipSync(tar), /checksum/i);
    await expect(inspectStemcell(join(root, "nothing"))).rejects.toThrow(/there is no such file/);
  });
});

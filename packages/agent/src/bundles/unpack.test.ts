import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import { tarball } from "@slipway/testkit/tarball";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { BadArchive } from "./errors.ts";
import { removeTree } from "./remove-tree.ts";
import { type UnpackRules, unpack } from "./unpack.ts";

type TarEntry = Parameters<typeof tarball>[0][number];

async function unpacked(bytes: Uint8Array, rules: Partial<UnpackRules> = {}) {
  const { path } = await temporaryDirectory();
  onTestFinished(() => removeTree(path));
  const directory = join(path, "into");
  await mkdir(directory);
  await writeFile(join(path, "archive"), bytes);
  const work = unpack(join(path, "archive"), {
    what: "it",
    placeOf: (name) => ({ directory, name }),
    modeOf: (_, __, mode) => mode,
    keepTimes: true,
    absoluteLinks: false,
    mostBytes: 1 << 20,
    signal: new AbortController().signal,
    ...rules,
  });
  return { path, directory, work };
}

const entry = (header: Partial<TarEntry["header"]> & { name: string }, body = ""): TarEntry => ({
  header: { size: Buffer.byteLength(body), type: "file", ...header },
  body,
});
const packed = (...entries: TarEntry[]) => tarball(entries);
const link = (name: string, linkname: string, type: "symlink" | "link" = "symlink") =>
  entry({ name, linkname, type, size: 0 });

describe("an archive", () => {
  it("is unpacked with modes, times, links inside it and hard links, gzipped or not", async () => {
    const inputs: TarInput[] = [
      { type: "directory", name: ".", mode: 0o700 },
      { type: "directory", name: "./closed", mode: 0o555 },
      { type: "text", name: "./closed/bin/run", mode: 0o755, text: "#!/bin/sh" },
      { type: "symlink", name: "./closed/bin/up", mode: 0o777, to: "../../large" },
      { type: "text", name: "./large", mode: 0o640, text: "x".repeat(600_000) },
    ];
    for (const wrap of [gzipSync, (bytes: Buffer) => bytes]) {
      const { directory, work } = await unpacked(wrap(await buffer(tarBytes(inputs, 1234))));
      await work;
      expect((await stat(join(directory, "closed"))).mode & 0o777).toBe(0o555);
      const run = await stat(join(directory, "closed", "bin", "run"));
      expect([run.mode & 0o777, run.mtimeMs]).toEqual([0o755, 1234_000]);
      expect(await readFile(join(directory, "closed", "bin", "up"), "utf8")).toHaveLength(600_000);
    }
    const { directory, work } = await unpacked(
      await packed(entry({ name: "a" }, "one"), link("b", "a", "link")),
    );
    await work;
    expect((await stat(join(directory, "b"))).nlink).toBe(2);
  });

  it("has the last of two entries with the same name, as tar does", async () => {
    const { directory, work } = await unpacked(
      await packed(
        entry({ name: "a" }, "one"),
        link("b", "a"),
        entry({ name: "a" }, "two"),
        entry({ name: "b" }, "b"),
      ),
    );
    await work;
    expect(await readFile(join(directory, "a"), "utf8")).toBe("two");
    expect(await readFile(join(directory, "b"), "utf8")).toBe("b");
  });

  const device = { name: "x", size: 0, devmajor: 1, devminor: 3 };
  const hostile: readonly (readonly [string, TarEntry[]])[] = [
    ["an absolute path", [entry({ name: "/etc/x" }, "x")]],
    ["a way up", [entry({ name: "a/../../x" }, "x")]],
    ["a link up", [link("x", "../outside")]],
    [
      "a link up from below",
      [entry({ name: "a/b", type: "directory", size: 0 }), link("a/b/x", "../../../outside")],
    ],
    ["an absolute link", [link("x", "/etc/passwd")]],
    ["a link up through a link", [link("here", "."), link("x", "here/here/../..")]],
    ["a file through a link", [link("a", "b"), entry({ name: "a/x" }, "x")]],
    ["a directory over a link", [link("a", "."), entry({ name: "a/", type: "directory", size: 0 })]],
    ["a file over a directory", [entry({ name: "a/x" }, "x"), entry({ name: "a" }, "x")]],
    ["a hard link to outside", [link("x", "../outside", "link")]],
    ["a hard link to an absolute path", [link("x", "/etc/passwd", "link")]],
    ["a hard link to a link", [link("a", "b"), link("x", "a", "link")]],
    ["a hard link to nothing", [link("x", "nothing", "link")]],
    ["a device", [entry({ ...device, type: "character-device" })]],
    ["a block device", [entry({ ...device, type: "block-device" })]],
    ["a fifo", [entry({ ...device, type: "fifo" })]],
    ["a file in place of the directory itself", [entry({ name: "." }, "x")]],
  ];
  it.each(hostile)("is refused with %s, and nothing is written outside", async (_, entries) => {
    const { path, work } = await unpacked(await packed(...entries));
    const failure = await work.catch((error: unknown) => error);
    expect(BadArchive.is(failure), String(failure)).toBe(true);
    expect(await readdir(path)).toEqual(["archive", "into"]);
  });

  it("may link to an absolute path in a package, and nothing is written through that link", async () => {
    const absoluteLinks = { absoluteLinks: true };
    const good = await unpacked(await packed(link("x", "/var/vcap/packages/ruby")), absoluteLinks);
    await good.work;
    const bad = await unpacked(
      await packed(link("x", "/tmp"), entry({ name: "x/evil" }, "x")),
      absoluteLinks,
    );
    await expect(bad.work).rejects.toThrow("goes through a link");
  });

  it("is refused before it fills the disk if it is too large", async () => {
    const { directory, work } = await unpacked(await packed(entry({ name: "bomb" }, "0".repeat(2 << 20))));
    await expect(work).rejects.toThrow("unpacks to more than 1048576 bytes");
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([1, 40, 300, 700, 1000])("cut off after %i bytes is refused", async (length) => {
    const bytes = await packed(
      entry({ name: "a" }, "x".repeat(2000)),
      entry(
        { name: "b" },
        String(
          Array(900)
            .fill(0)
            .map((_, at) => at * 7919),
        ),
      ),
    );
    const { work } = await unpacked(bytes.subarray(0, length));
    expect(BadArchive.is(await work.catch((error: unknown) => error))).toBe(true);
  });

  it("is refused if it is no tar archive", async () => {
    const { work } = await unpacked(Buffer.from("<html>Not found</html>"));
    await expect(work).rejects.toThrow("it is no tar archive");
  });
});

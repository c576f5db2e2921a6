import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { archiveBytes } from "./file.ts";
import { plainName, readTar, type TarRules } from "./read.ts";
import { type TarInput, tarBytes } from "./write.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "slipway-tar-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const RULES: TarRules = { refuse: (why) => new Error(why), end: "needed" };
const long = `${"deep/".repeat(40)}file`;
const INPUTS: readonly TarInput[] = [
  { type: "directory", name: "etc", mode: 0o750 },
  { type: "text", name: "etc/text", mode: 0o600, text: "é".repeat(700) },
  { type: "text", name: "empty", mode: 0o4755, text: "" },
  { type: "text", name: long, mode: 0o644, text: "long" },
  { type: "symlink", name: "link", mode: 0o777, to: `../${long}` },
  { type: "link", name: "again", mode: 0o644, to: long },
];

async function entriesOf(bytes: AsyncIterable<Uint8Array>, rules: Partial<TarRules> = {}) {
  const found = [];
  for await (const { entry, body } of readTar(bytes, { ...RULES, ...rules })) {
    const { name, type, linkName } = entry;
    found.push({ name, type, linkName, ...entry.attributes(), text: await text(body) });
  }
  return found;
}

/** In pieces of this size, so that they end anywhere. */
async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("a tar we write", () => {
  it.each([1, 100, 512, 1 << 20])("is read back the same, in pieces of %i bytes", async (size) => {
    const found = await entriesOf(inPieces(await buffer(tarBytes(INPUTS, 7)), size));
    expect(found).toEqual(
      INPUTS.map((input) => ({
        name: input.type === "directory" ? `${input.name}/` : input.name,
        type: input.type === "text" ? "file" : input.type,
        linkName: "to" in input ? input.to : "",
        text: input.type === "text" ? input.text : "",
        ...{ mode: input.mode, uid: 0, gid: 0, mtime: 7 },
      })),
    );
  });

  it("has entries whose content is a stream of the announced size, and ends with an error for another size", async () => {
    const written = (size: number) => {
      const open = async () => ({ size, content: Readable.from([Buffer.from("a"), Buffer.from("bc")]) });
      return buffer(tarBytes([{ type: "stream", name: "s", mode: 0o600, open }], 7));
    };
    expect(await entriesOf(Readable.from([await written(3)]))).toMatchObject([{ name: "s", text: "abc" }]);
    for (const size of [2, 4]) await expect(written(size)).rejects.toThrow("s had another size");
  });

  it("is what the system's tar unpacks, and the same bytes each time", async () => {
    const source = join(dir, "source");
    await writeFile(source, "of a file");
    const entries: TarInput[] = [...INPUTS, { type: "file", name: "file", mode: 0o640, path: source }];
    const bytes = await buffer(tarBytes(entries, 0));
    expect((await buffer(tarBytes(entries, 0))).equals(bytes)).toBe(true);
    const to = join(dir, "unpacked");
    await mkdir(to);
    execFileSync("tar", ["-x", "-C", to], { input: bytes });
    expect(await readFile(join(to, "file"), "utf8")).toBe("of a file");
    expect(await readFile(join(to, long), "utf8")).toBe("long");
    expect(execFileSync("tar", ["-tv", "--numeric-owner"], { input: bytes, encoding: "utf8" })).toContain(
      `link -> ../${long}`,
    );
  });
});

describe("a tar", () => {
  it.each(["v7", "ustar", "gnu", "oldgnu", "posix"])(
    "reads an archive of the system's tar as %s",
    async (format) => {
      const root = join(dir, format);
      const name = format === "v7" ? "a/b" : `${"n".repeat(90)}/${"m".repeat(90)}`;
      await mkdir(join(root, name), { recursive: true });
      await writeFile(join(root, name, "file"), "content");
      await symlink("anywhere", join(root, "link"));
      const bytes = execFileSync(
        "tar",
        ["-c", `--format=${format}`, "--mtime=@-5", "-C", root, "."].filter(
          (word) => word !== "--mtime=@-5" || ["gnu", "oldgnu"].includes(format),
        ),
      );
      const found = await entriesOf(Readable.from([bytes]));
      expect(found).toContainEqual(expect.objectContaining({ name: `./${name}/file`, text: "content" }));
      expect(found).toContainEqual(expect.objectContaining({ type: "symlink", linkName: "anywhere" }));
      if (format === "gnu") expect(found[0]?.mtime).toBe(-5);
    },
  );

  it("is read on behind content that nobody has read, or not to its end", async () => {
    const bytes = await buffer(tarBytes(INPUTS, 0));
    const names: string[] = [];
    for await (const { entry, body } of readTar(inPieces(bytes, 300), RULES)) {
      names.push(plainName(entry.name, RULES.refuse));
      if (entry.name === "etc/text") for await (const _ of body) break;
    }
    expect(names).toEqual(INPUTS.map(({ name }) => name));
  });

  it("refuses an archive that is cut off anywhere, and a missing end only if the end is required", async () => {
    const bytes = await buffer(tarBytes(INPUTS, 0));
    for (const end of ["needed", "optional"] as const)
      for (const at of [1, 511, 513, 1024, 1500, bytes.length - 1025])
        if (end === "needed" || at % 512 !== 0)
          await expect(entriesOf(inPieces(bytes.subarray(0, at), 200), { end }), `${at}`).rejects.toThrow(
            "too early",
          );
    const open = bytes.subarray(0, -1024);
    await expect(entriesOf(inPieces(open, 200))).rejects.toThrow("too early");
    expect(await entriesOf(inPieces(open, 200), { end: "optional" })).toHaveLength(INPUTS.length);
  });

  it("closes its file when it is read no further", async () => {
    const path = join(dir, "closes.tar");
    await writeFile(path, await buffer(tarBytes([...INPUTS, ...INPUTS], 0)));
    execFileSync("gzip", ["-k", path]);
    for (const gzip of [false, true]) {
      const bytes = archiveBytes(gzip ? `${path}.gz` : path, { gzip });
      for await (const _ of readTar(bytes, RULES)) break;
      expect(bytes.destroyed).toBe(true);
    }
  });
});

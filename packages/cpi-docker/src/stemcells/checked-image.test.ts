import { randomFillSync } from "node:crypto";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { END, pax, rawTar } from "@slipway/testkit/raw-tar";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkedImage } from "./checked-image.ts";
import { imageKind } from "./image-kind.ts";

let dir: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
});
afterAll(() => remove());

/** Returns the bytes of a file that would have been sent, and why not all of them were. */
async function sent(path: string): Promise<{ bytes: Buffer; refused?: unknown }> {
  const kind = await imageKind(path);
  if (kind === "none") throw new Error("it is empty");
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of checkedImage(path, kind)) pieces.push(piece);
    return { bytes: Buffer.concat(pieces) };
  } catch (refused) {
    return { bytes: Buffer.concat(pieces), refused };
  }
}

async function sentOf(bytes: Uint8Array): Promise<{ bytes: Buffer; refused?: unknown }> {
  const path = join(dir, "image");
  await writeFile(path, bytes);
  return await sent(path);
}

const file = { name: "a", content: "hello" };
const good = rawTar([file]);

describe("an image on its way to the engine", () => {
  it.each(["v7", "ustar", "gnu", "oldgnu", "posix"])(
    "is sent as it is when tar wrote it as %s",
    async (format) => {
      const root = join(dir, format);
      const deep = `${"directory-with-a-long-name/".repeat(3)}and/${"x".repeat(format === "v7" ? 5 : 60)}`;
      await mkdir(join(root, deep), { recursive: true });
      // Pieces end in the middle of headers and of files.
      await writeFile(join(root, "large"), randomFillSync(Buffer.alloc(700_001)));
      for (const name of ["empty", "one", join(deep, "z")]) await writeFile(join(root, name), name.slice(5));
      await symlink("large", join(root, "link"));
      for (const more of [[], ["--gzip"]]) {
        const path = join(dir, `${format}.tar`);
        const args = [`--format=${format}`, ...more, "-C", root, "-cf", path, "."];
        // ustar without its mark is known only inside of gzip.
        if (format === "v7" && more.length === 0) continue;
        await mustRun(systemExec, "packing", "tar", args);
        const { bytes, refused } = await sent(path);
        expect(refused).toBeUndefined();
        expect(bytes.equals(await readFile(path))).toBe(true);
      }
    },
  );

  it("may have no mark at its end, much behind it, and headers about nothing", async () => {
    for (const bytes of [
      good.subarray(0, -END.length),
      Buffer.concat([good, Buffer.alloc(8192), Buffer.from("anything")]),
      rawTar([pax({ comment: "x" }, "g"), pax({}), file, pax({ mtime: "1.5", path: "b", size: "5" }), file]),
    ])
      expect(await sentOf(bytes)).toEqual({ bytes });
  });

  it.each<[string, Buffer, RegExp]>([
    ["a sparse file of GNU's", rawTar([{ ...file, type: "S" }]), /sparse/],
    ["a sparse file of POSIX", rawTar([pax({ "GNU.sparse.major": "1" }), file]), /sparse/],
    [
      "a sparse file far behind",
      rawTar([{ name: "b", content: "b".repeat(5000) }, pax({ "GNU.sparse.size": "9" }), file]),
      /sparse/,
    ],
    ["a size for all files", rawTar([pax({ size: "1" }, "g"), file]), /one name or size for all/],
    [
      "a sparse one behind a hidden size",
      rawTar([pax({ size: "0" }), { name: "b", size: 512 }, pax({ "GNU.sparse.major": "1" }), file]),
      /sparse/,
    ],
    [
      "a sparse one behind a directory with a size",
      rawTar([{ name: "b/", type: "\0", size: 1024 }, pax({ "GNU.sparse.major": "1" }), file]),
      /sparse/,
    ],
    ["more claimed than there is", rawTar([{ ...file, size: 0o77777777777 }]), /ends too early/],
    [
      "two names, of which engines take the other: a directory, and its content is headers",
      rawTar([
        pax({ path: "b" }),
        { name: "long", type: "L", content: "b/" },
        { name: "b", type: "\0", content: rawTar([pax({ "GNU.sparse.major": "1" })]).toString("latin1") },
      ]),
      /two names/,
    ],
    ["an immense claim", rawTar([{ ...file, size: `\x80${"\xff".repeat(11)}` }]), /a number is none/],
    ["a size that is none", rawTar([{ ...file, size: "-12" }]), /a number is none/],
    [
      "a record that is none",
      rawTar([{ name: "p", type: "x", content: "99 a=b\n" }, file]),
      /an attribute is none/,
    ],
    ["an end in the middle of a file", good.subarray(0, 600), /ends too early/],
    ["an end in the middle of a header", good.subarray(0, 1024 + 100), /ends too early/],
    [
      "a header behind half of an end",
      Buffer.concat([good.subarray(0, -512), good]),
      /an entry follows its end/,
    ],
    ["a wrong sum", Buffer.from(good).fill("b", 0, 1), /a checksum is wrong/],
    ["nothing in it", rawTar([]), /nothing/],
  ])("is not sent to its end when it has %s, packed or not", async (what, bytes, why) => {
    for (const image of what === "nothing in it" ? [gzipSync(bytes)] : [bytes, gzipSync(bytes)]) {
      const { bytes: out, refused } = await sentOf(image);
      expect(refused).toMatchObject({ code: "DOC-008", message: expect.stringMatching(why) });
      expect(out.length).toBe(0);
    }
  });

  it.each<[string, () => Buffer]>([
    ["cut off", () => gzipSync(randomTar()).subarray(0, -100)],
    ["damaged", () => Buffer.from(gzipSync(randomTar())).fill(0, 300_000, 300_100)],
  ])("is not sent to its end when it is packed and %s", async (_, bytes) => {
    const image = bytes();
    const { bytes: out, refused } = await sentOf(image);
    expect(refused).toMatchObject({
      code: "DOC-008",
      message: expect.stringContaining("cannot be unpacked"),
    });
    expect(out.length).toBeLessThan(image.length);
  });

  it("is not sent when it is small and becomes immense", async () => {
    const [head] = [rawTar([{ name: "zeros", size: 2 ** 32 }]).subarray(0, 512)];
    const zeros = gzipSync(Buffer.alloc(16 << 20));
    const { bytes, refused } = await sentOf(
      Buffer.concat([gzipSync(head), ...new Array<Buffer>(64).fill(zeros)]),
    );
    expect(refused).toMatchObject({ code: "DOC-008", message: expect.stringContaining("100 times") });
    expect(bytes.length).toBeLessThan(512 * 1024);
  });

  it.each(["bzip2", "xz"])("is refused when %s packed it: what comes out is not known", async (program) => {
    const path = join(dir, program);
    const magic = { bzip2: "425a6839", xz: "fd377a585a000000" }[program] ?? "";
    // Also with the mark of a tar at its place.
    await writeFile(path, Buffer.concat([Buffer.from(magic, "hex"), good.subarray(magic.length / 2)]));
    await expect(imageKind(path)).rejects.toMatchObject({ code: "DOC-008" });
  });
});

const randomTar = (): Buffer =>
  rawTar([{ name: "large", content: randomFillSync(Buffer.alloc(500_000)).toString("base64") }]);

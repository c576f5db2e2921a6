import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleScript, Child } from "@slipway/testkit/child";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replaceFile, syncDirectory, writeFileAtomic } from "./atomic-file.ts";
import { systemCode } from "./errors.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let file: string;
const files = () => readdir(directory.path);

beforeEach(async () => {
  directory = await temporaryDirectory();
  file = join(directory.path, "hints.json");
});
afterEach(() => directory.remove());

describe.each([
  ["an atomic write", writeFileAtomic],
  ["an atomic write that waits for no disk", replaceFile],
])("%s", (_, write) => {
  it("makes a file with the content that only its owner may read, and nothing beside it", async () => {
    await write(file, '{"a":1}');
    expect(await readFile(file, "utf8")).toBe('{"a":1}');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await files()).toEqual(["hints.json"]);
  });

  it("takes bytes and another mode", async () => {
    await write(file, Uint8Array.from([0, 255, 10]), 0o400);
    expect([...(await readFile(file))]).toEqual([0, 255, 10]);
    expect((await stat(file)).mode & 0o777).toBe(0o400);
  });

  it("tightens the mode of a file that was open to others", async () => {
    await writeFile(file, "old", { mode: 0o644 });
    await write(file, "new");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("shows readers the old content or the new, whole, whoever writes at the same time", async () => {
    const content = (n: number) => `${n}:`.repeat(20_000 + n * 1000);
    const valid = new Set(Array.from({ length: 40 }, (_, n) => content(n)));
    await write(file, content(0));
    let writing = true;
    let reads = 0;
    const reader = async () => {
      while (writing) {
        expect(valid.has(await readFile(file, "utf8"))).toBe(true);
        reads++;
      }
    };
    const writer = async (from: number) => {
      for (let n = from; n < from + 20; n++) await write(file, content(n));
    };
    const writers = Promise.all([writer(0), writer(20)]).finally(() => {
      writing = false;
    });
    await Promise.all([writers, reader(), reader(), reader()]);
    expect(reads).toBeGreaterThan(0);
    expect(await files()).toEqual(["hints.json"]);
  });
});

describe("an atomic write that fails", () => {
  it("because the disk takes no more leaves the old content and no temporary file", async () => {
    await writeFile(file, "old content");
    const script = await bundleScript(
      `import { writeFileAtomic } from "./atomic-file.ts";
       const error = await writeFileAtomic(process.argv[2], "x".repeat(1 << 20)).catch((thrown) => thrown);
       console.log(error?.code);`,
    );
    // The limit on file size stands in for a full disk: the write stops half-way.
    const limited = ["-c", 'ulimit -f 64 && exec "$0" "$@"', process.execPath, script, file];
    const child = new Child("sh", limited);
    expect(await child.line()).toBe("EFBIG");
    await child.end();
    expect(await readFile(file, "utf8")).toBe("old content");
    expect(await files()).toEqual(["hints.json"]);
  });

  it("because the place is taken by a directory leaves that and no temporary file", async () => {
    await mkdir(join(file, "inside"), { recursive: true });
    const error = await writeFileAtomic(file, "new").catch((thrown: unknown) => thrown);
    expect(["EISDIR", "ENOTEMPTY", "EEXIST"]).toContain(systemCode(error));
    expect(await files()).toEqual(["hints.json"]);
    expect(await readdir(file)).toEqual(["inside"]);
  });

  it("because there is no such directory says so", async () => {
    await expect(writeFileAtomic(join(directory.path, "no", "file"), "x")).rejects.toThrow("ENOENT");
    await expect(syncDirectory(join(directory.path, "no"))).rejects.toThrow("ENOENT");
    expect(await files()).toEqual([]);
  });
});

import { createHash } from "node:crypto";
import {
  chmod,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startRegistry } from "../server.ts";
import { AUTH, path, put, send, settingsOf, startHere, tempDir, USER } from "../testing/harness.ts";

const logOf = (dir: string) => join(dir, "registry.log");

/** The files of the entries that a registry which has ended left behind. */
const filesOf = async (dir: string) => (await readdir(dir)).map((name) => join(dir, name));

/** A directory that holds the given entries, written by a registry that has ended. */
async function stateWith(entries: Record<string, string>): Promise<string> {
  const dir = join(await tempDir(), "state");
  const registry = await startRegistry({ dir, port: 0, users: [USER] });
  for (const [id, settings] of Object.entries(entries))
    expect((await put(registry.url, id, settings)).status).toBe(200);
  await registry.close();
  return dir;
}

const refusal = (dir: string) =>
  startRegistry({ dir, port: 0, users: [USER] }).then(
    () => undefined,
    (error) => error,
  );

test("puts, replacements and deletes survive a restart", async () => {
  const dir = await stateWith({ a: "1", b: "2", c: "3" });
  const second = await startHere(dir);
  expect(second.entriesAtStart).toBe(3);
  await put(second.url, "a", "one");
  await send(second.url, "DELETE", path("b"), { headers: AUTH });
  await second.close();
  const { url } = await startHere(dir);
  expect(await Promise.all(["a", "b", "c"].map((id) => settingsOf(url, id)))).toEqual([
    "one",
    undefined,
    "3",
  ]);
});

test("only the owner may read the state, also when others could after a restore", async () => {
  const dir = await stateWith({ a: "1" });
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
  const [file = ""] = await filesOf(dir);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await chmod(file, 0o644);
  await startHere(dir);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("200 parallel puts to different ids are all kept", async () => {
  const dir = join(await tempDir(), "state");
  const first = await startHere(dir);
  const ids = Array.from({ length: 200 }, (_, i) => `vm-${i}`);
  const statuses = await Promise.all(
    ids.map(async (id) => (await put(first.url, id, `settings of ${id}`)).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  await first.close();
  const { url } = await startHere(dir);
  for (const id of ids) expect(await settingsOf(url, id)).toBe(`settings of ${id}`);
});

test("200 parallel puts to one id leave one of them, the same before and after a restart", async () => {
  const dir = join(await tempDir(), "state");
  const first = await startHere(dir);
  await Promise.all(Array.from({ length: 200 }, (_, i) => put(first.url, "vm-7", `version ${i}`)));
  const kept = await settingsOf(first.url, "vm-7");
  expect(kept).toMatch(/^version \d+$/);
  await first.close();
  const { url } = await startHere(dir);
  expect(await settingsOf(url, "vm-7")).toBe(kept);
});

test("ids of any length and with any characters have entries of their own", async () => {
  const ids = ["../../etc/passwd", "é/ü", "x".repeat(1000), "A", "a", ".", " "];
  const dir = await stateWith(Object.fromEntries(ids.map((id) => [id, `of ${id}`])));
  const { url, entriesAtStart } = await startHere(dir);
  expect(entriesAtStart).toBe(ids.length);
  for (const id of ids) expect(await settingsOf(url, id)).toBe(`of ${id}`);
});

test.each([
  ["with a wrong byte", (bytes: string) => bytes.replace("canary", "canery")],
  ["that is cut off", (bytes: string) => bytes.slice(0, -5)],
  ["that is empty", () => ""],
])("an entry %s stops the start and nothing is changed", async (_, damage) => {
  const dir = await stateWith({ a: "canary" });
  const [file = ""] = await filesOf(dir);
  const damaged = damage(await readFile(file, "utf8"));
  await writeFile(file, damaged);
  const error = await refusal(dir);
  expect(error).toMatchObject({ code: "REG-002", message: expect.stringContaining(file) });
  expect(error.message).not.toContain("canery");
  expect(await readFile(file, "utf8")).toBe(damaged);
  expect(await filesOf(dir)).toEqual([file]);
});

test("an entry under the name of another stops the start", async () => {
  const dir = await stateWith({ a: "1", b: "2" });
  const [one = "", other = ""] = await filesOf(dir);
  await writeFile(one, await readFile(other));
  expect(await refusal(dir)).toMatchObject({ code: "REG-002" });
});

test("what a write cut short left behind is removed", async () => {
  const dir = await stateWith({ a: "1" });
  const [file = ""] = await readdir(dir);
  await writeFile(join(dir, `.${file}.0123456789ab.tmp`), "half an entry");
  const { url } = await startHere(dir);
  expect((await readdir(dir)).sort()).toEqual([file, "registry.lock", "registry.lock.live"].sort());
  expect(await settingsOf(url, "a")).toBe("1");
});

/** Writes a commit of the earlier format: a log, each commit a line with its checksum. */
const commit = (...changes: object[]) => {
  const json = JSON.stringify(changes);
  return `${createHash("sha256").update(json).digest("hex").slice(0, 16)} ${json}\n`;
};
const LOG = [
  "slipway-registry-log 1\n",
  commit({ op: "put", id: "a", settings: "old" }, { op: "put", id: "b", settings: "2" }),
  commit({ op: "put", id: "a", settings: "1" }, { op: "put", id: "c", settings: "3" }),
  commit({ op: "delete", id: "b" }),
].join("");
const shown = (url: string) => Promise.all(["a", "b", "c"].map((id) => settingsOf(url, id)));

test("the log of an earlier version is taken over once, also when a crash came in between", async () => {
  const dir = await tempDir();
  await writeFile(logOf(dir), LOG);
  const first = await startHere(dir);
  expect(await shown(first.url)).toEqual(["1", undefined, "3"]);
  await first.close();
  expect((await readdir(dir)).every((name) => name.endsWith(".entry"))).toBe(true);
  // Killed when one entry had its file and the log was still there.
  await writeFile(logOf(dir), LOG);
  await rm((await filesOf(dir)).find((file) => file.endsWith(".entry")) ?? "");
  const again = await startHere(dir);
  expect(await shown(again.url)).toEqual(["1", undefined, "3"]);
  await put(again.url, "a", "new");
  await again.close();
  expect(await shown((await startHere(dir)).url)).toEqual(["new", undefined, "3"]);
});

test.each([
  ["a record without its end", commit({ op: "put", id: "a", settings: "lost" }).slice(0, -5)],
  ["a record without its line feed", commit({ op: "put", id: "a", settings: "lost" }).slice(0, -1)],
  ["a record with a wrong byte", commit({ op: "put", id: "a", settings: "lost" }).replace("lost", "lust")],
  ["zeros", "\0".repeat(4096)],
])(
  "a log whose last record was never acknowledged is taken over without it, and kept: %s",
  async (_, tail) => {
    const dir = await tempDir();
    await writeFile(logOf(dir), LOG + tail);
    expect(await shown((await startHere(dir)).url)).toEqual(["1", undefined, "3"]);
    expect(await readFile(`${logOf(dir)}.torn`, "utf8")).toBe(LOG + tail);
    expect(await readdir(dir)).not.toContain("registry.log");
  },
);

test("a log with a damaged record and others behind it stops the start and nothing is changed", async () => {
  const dir = await tempDir();
  const damaged = LOG.replace("old", "odd");
  await writeFile(logOf(dir), damaged);
  expect(await refusal(dir)).toMatchObject({
    code: "REG-002",
    message: expect.stringContaining(`line 2 of ${logOf(dir)}`),
  });
  expect(await readFile(logOf(dir), "utf8")).toBe(damaged);
  expect(await readdir(dir)).toEqual(["registry.log"]);
});

test.each(["", "something else\n", "slipway-registry-log 2\n", "slipway-registry-lo"])(
  "a file that is not a log of this version is left alone: %j",
  async (content) => {
    const dir = await tempDir();
    await writeFile(logOf(dir), content);
    expect(await refusal(dir)).toMatchObject({ code: "REG-003" });
    expect(await readFile(logOf(dir), "utf8")).toBe(content);
  },
);

test("a second registry on the same directory is refused, and the first works on", async () => {
  const dir = await stateWith({ a: "1" });
  const first = await startHere(dir);
  expect(await refusal(dir)).toMatchObject({ code: "REG-001", message: expect.stringContaining(dir) });
  expect((await put(first.url, "b", "2")).status).toBe(200);
  await first.close();
  expect(await refusal(dir)).toBeUndefined();
});

test("a directory that cannot be used is a clear error", async () => {
  const file = join(await tempDir(), "file");
  await writeFile(file, "");
  expect(await refusal(join(file, "state"))).toMatchObject({ code: "REG-004" });
  const dir = await tempDir();
  await mkdir(logOf(dir));
  expect(await refusal(dir)).toMatchObject({ code: "REG-004" });
});

/** Returns the prototype of all open files, to watch or break their methods. */
async function fileMethods(dir: string): Promise<FileHandle> {
  const handle = await open(dir);
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

test.each([
  ["its file", 0],
  ["the directory", 1],
])("a put is neither answered nor seen before %s is synced", async (_, before) => {
  const dir = await stateWith({ a: "old" });
  const { url } = await startHere(dir);
  const files = await fileMethods(dir);
  const { sync } = files;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const order: string[] = [];
  const syncing = new Promise<void>((begun) => {
    let calls = 0;
    vi.spyOn(files, "sync").mockImplementation(async function (this: FileHandle) {
      if (calls++ !== before) return await sync.call(this);
      order.push("sync");
      begun();
      await held;
    });
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const answered = put(url, "a", "new").then(({ status }) => order.push(`answer ${status}`));
  await syncing;
  for (let i = 0; i < 3; i++) expect(await settingsOf(url, "a")).toBe("old");
  order.push("release");
  release();
  await answered;
  expect(order).toEqual(["sync", "release", "answer 200"]);
  expect(await settingsOf(url, "a")).toBe("new");
});

const onDisk = async (dir: string): Promise<string> => {
  const files = (await filesOf(dir)).filter((file) => file.endsWith(".entry"));
  return (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("");
};

const EIO = Object.assign(new Error("EIO: i/o error"), { code: "EIO" });

test.each<[string, (files: FileHandle) => void]>([
  ["the write", (files) => vi.spyOn(files, "writeFile").mockRejectedValue(EIO)],
  ["the sync", (files) => vi.spyOn(files, "sync").mockRejectedValue(EIO)],
  [
    "the sync of the directory",
    (files) => {
      const { sync } = files;
      vi.spyOn(files, "sync").mockImplementation(async function (this: FileHandle) {
        if ((await this.stat()).isDirectory()) throw EIO;
        await sync.call(this);
      });
    },
  ],
])("when %s fails the change is refused, never seen, and later ones succeed", async (what, fail) => {
  const dir = await stateWith({ a: "1", b: "2" });
  const errors: unknown[] = [];
  const registry = await startHere(dir, { onError: (error) => errors.push(error) });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  fail(await fileMethods(dir));
  for (let i = 0; i < 2; i++) {
    const got = await put(registry.url, "a", "canary");
    expect([got.status, got.text]).toEqual([500, '{"status":"error"}']);
    const gone = (await send(registry.url, "DELETE", path("b"), { headers: AUTH })).status;
    if (what !== "the write") expect(gone).toBe(500);
    else await put(registry.url, "b", "canary");
  }
  vi.restoreAllMocks();
  expect(errors).toContainEqual(expect.objectContaining({ code: "REG-005" }));
  const b = what === "the write" ? undefined : "2";
  expect(await shown(registry.url)).toEqual(["1", b, undefined]);
  expect((await put(registry.url, "c", "3")).status).toBe(200);
  // Without waiting for its end: it may be killed.
  await expect.poll(() => onDisk(dir)).not.toContain("canary");
  if (b !== undefined) await expect.poll(() => onDisk(dir)).toContain('"settings":"2"');
  await registry.close();
  expect(await shown((await startHere(dir)).url)).toEqual(["1", b, "3"]);
});

test("a change after a refused one of the same id is not undone", async () => {
  const dir = await stateWith({ a: "1" });
  const registry = await startHere(dir);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  vi.spyOn(await fileMethods(dir), "sync").mockRejectedValue(EIO);
  expect((await put(registry.url, "a", "refused")).status).toBe(500);
  vi.restoreAllMocks();
  await Promise.all([
    put(registry.url, "b", "2"),
    put(registry.url, "a", "later"),
    put(registry.url, "c", "3"),
  ]);
  await registry.close();
  expect(await shown((await startHere(dir)).url)).toEqual(["later", "2", "3"]);
});

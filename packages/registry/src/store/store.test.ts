import {
  appendFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startRegistry } from "../server.ts";
import { AUTH, path, put, send, settingsOf, startHere, tempDir, USER } from "../testing/harness.ts";

const logOf = (dir: string) => join(dir, "registry.log");

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

test("only the owner may read the state", async () => {
  const dir = await stateWith({ a: "1" });
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
  expect((await stat(logOf(dir))).mode & 0o777).toBe(0o600);
});

test("a log that others can read, as after a restore, is closed to them", async () => {
  const dir = await stateWith({ a: "1" });
  const file = await open(logOf(dir));
  await file.chmod(0o644);
  await file.close();
  await startHere(dir);
  expect((await stat(logOf(dir))).mode & 0o777).toBe(0o600);
});

test("200 parallel puts to different ids are all kept, and share syncs", async () => {
  const dir = join(await tempDir(), "state");
  const first = await startHere(dir);
  const ids = Array.from({ length: 200 }, (_, i) => `vm-${i}`);
  const statuses = await Promise.all(
    ids.map(async (id) => (await put(first.url, id, `settings of ${id}`)).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  await first.close();
  expect((await readFile(logOf(dir), "utf8")).split("\n").length).toBeLessThan(200);
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

test.each([
  ["a record without its end", (line: string) => line.slice(0, -5)],
  ["a record without its line feed", (line: string) => line.slice(0, -1)],
  ["a record with a wrong byte", (line: string) => line.replace("lost", "lust")],
  ["zeros", () => "\0".repeat(4096)],
])("an incomplete last record is put aside and the rest is served: %s", async (_, damage) => {
  const dir = await stateWith({ a: "1", b: "2" });
  const good = await readFile(logOf(dir), "utf8");
  const other = await stateWith({ c: "lost" });
  const lastLine = (await readFile(logOf(other), "utf8")).split("\n")[1];
  const tail = damage(`${lastLine}\n`);
  await appendFile(logOf(dir), tail);

  const registry = await startHere(dir);
  expect(registry.entriesAtStart).toBe(2);
  expect(await readFile(logOf(dir), "utf8")).toBe(good);
  expect(await readFile(registry.tornTail ?? "", "utf8")).toBe(tail);
  expect((await stat(registry.tornTail ?? "")).mode & 0o777).toBe(0o600);
  await put(registry.url, "c", "3");
  await registry.close();

  const again = await startHere(dir);
  expect(again.tornTail).toBeUndefined();
  expect(await Promise.all(["a", "b", "c"].map((id) => settingsOf(again.url, id)))).toEqual(["1", "2", "3"]);
});

test("a damaged record with others behind it stops the start and changes nothing", async () => {
  const dir = await stateWith({ a: "canary", b: "2" });
  const damaged = (await readFile(logOf(dir), "utf8")).replace("canary", "canery");
  await writeFile(logOf(dir), damaged);
  const error = await refusal(dir);
  expect(error).toMatchObject({ code: "REG-002" });
  expect(error.message).toContain(`line 2 of ${logOf(dir)}`);
  expect(error.message).not.toContain("canery");
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

test("a log full of outdated records is rewritten and loses nothing", async () => {
  const dir = join(await tempDir(), "state");
  const first = await startHere(dir);
  await put(first.url, "quiet", "unchanged");
  const mib = "x".repeat(1 << 20);
  for (let i = 0; i < 20; i++) expect((await put(first.url, "busy", `${i} ${mib}`)).status).toBe(200);
  await first.close();
  expect((await stat(logOf(dir))).size).toBeLessThan(8 << 20);
  expect(await readdir(dir)).toEqual(["registry.log"]);
  const { url, entriesAtStart } = await startHere(dir);
  expect(entriesAtStart).toBe(2);
  expect(await settingsOf(url, "quiet")).toBe("unchanged");
  expect((await settingsOf(url, "busy"))?.slice(0, 5)).toBe("19 xx");
});

test("what a rewrite cut short left behind is removed", async () => {
  const dir = await stateWith({ a: "1" });
  await writeFile(join(dir, ".registry.log.0123456789ab.tmp"), "half a rewrite");
  const { url } = await startHere(dir);
  expect((await readdir(dir)).sort()).toEqual(["registry.lock", "registry.log"]);
  expect(await settingsOf(url, "a")).toBe("1");
});

/** What all open files share, to watch or break their methods. */
async function fileMethods(dir: string): Promise<FileHandle> {
  const handle = await open(logOf(dir));
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

test("a put is neither answered nor seen before it is synced", async () => {
  const dir = await stateWith({ a: "old" });
  const { url } = await startHere(dir);
  const files = await fileMethods(dir);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const order: string[] = [];
  const syncing = new Promise<void>((begun) => {
    vi.spyOn(files, "datasync").mockImplementationOnce(async () => {
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
  expect(await readFile(logOf(dir), "utf8")).toContain("new");
  for (let i = 0; i < 3; i++) expect(await settingsOf(url, "a")).toBe("old");
  order.push("release");
  release();
  await answered;
  expect(order).toEqual(["sync", "release", "answer 200"]);
  expect(await settingsOf(url, "a")).toBe("new");
});

/** Makes file methods fail, whoever calls them, until the returned function is called. */
async function failing(dir: string, methods: readonly ("datasync" | "write" | "truncate" | "sync")[]) {
  const files = await fileMethods(dir);
  const error = Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
  const spies = methods.map((method) => vi.spyOn(files, method).mockRejectedValue(error as never));
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

test.each([
  ["the sync", ["datasync"]],
  ["the write", ["write"]],
  ["the write and cutting it off", ["write", "truncate"]],
  ["the sync and the rewrite after it", ["datasync", "sync"]],
] as const)("when %s fails the change is refused, never seen, and later ones succeed", async (_, methods) => {
  const dir = await stateWith({ a: "1", b: "2" });
  const errors: unknown[] = [];
  const registry = await startHere(dir, { onError: (error) => errors.push(error) });
  const heal = await failing(dir, methods);
  try {
    for (let i = 0; i < 2; i++) {
      const got = await put(registry.url, "a", "canary");
      expect([got.status, got.text]).toEqual([500, '{"status":"error"}']);
      expect((await send(registry.url, "DELETE", path("b"), { headers: AUTH })).status).toBe(500);
    }
  } finally {
    heal();
  }
  expect(errors.length).toBe(4);
  expect(errors).toContainEqual(expect.objectContaining({ code: "REG-005" }));
  const shows = async (url: string) => Promise.all(["a", "b", "c"].map((id) => settingsOf(url, id)));
  expect(await shows(registry.url)).toEqual(["1", "2", undefined]);
  expect((await put(registry.url, "c", "3")).status).toBe(200);
  await registry.close();
  expect(await shows((await startHere(dir)).url)).toEqual(["1", "2", "3"]);
});

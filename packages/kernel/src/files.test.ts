import { mkdir, open, readFile, rmdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { expect, it, onTestFinished } from "vitest";
import { exists, ifThere, makeDirectories } from "./files.ts";

async function place(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}

it("a thing is there or not, and a link wherever it leads", async () => {
  const dir = await place();
  await writeFile(join(dir, "file"), "");
  await symlink("nowhere", join(dir, "link"));
  const found = ["file", "link", ".", "none", "none/deeper", "file/below"].map((name) =>
    exists(join(dir, name)),
  );
  expect(await Promise.all(found)).toEqual([true, true, true, false, false, false]);
});

it("what is there is handed on, other trouble is not taken for absence", async () => {
  const dir = await place();
  await writeFile(join(dir, "file"), "text");
  await mkdir(join(dir, "folder"));
  expect(await ifThere(readFile(join(dir, "file"), "utf8"))).toBe("text");
  expect(await ifThere(readFile(join(dir, "none"), "utf8"))).toBeUndefined();
  await expect(ifThere(readFile(join(dir, "folder"), "utf8"))).rejects.toThrow(/EISDIR/);
});

it("directories are made with all above them, once, also by several at a time", async () => {
  const dir = await place();
  const path = join(dir, "a", "b", "c");
  await Promise.all([makeDirectories(path), makeDirectories(path), makeDirectories(join(dir, "a", "d"))]);
  await makeDirectories(path);
  expect(await exists(path)).toBe(true);
  await writeFile(join(dir, "file"), "");
  await expect(makeDirectories(join(dir, "file"))).rejects.toThrow("EEXIST");
  await expect(makeDirectories(join(dir, "file", "below"))).rejects.toThrow("ENOTDIR");
});

it("no directory is made in one that is still there and was deleted", async () => {
  const deleted = join(await place(), "deleted");
  await mkdir(deleted);
  // As one that is mounted elsewhere, and with no mount that others copy meanwhile.
  const held = await open(deleted);
  onTestFinished(() => held.close());
  await rmdir(deleted);
  const there = `/proc/self/fd/${held.fd}`;
  expect((await stat(there)).isDirectory()).toBe(true);
  await expect(makeDirectories(join(there, "inside", "deeper"))).rejects.toThrow("ENOENT");
});

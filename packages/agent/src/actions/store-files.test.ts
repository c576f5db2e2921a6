import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { AGENT_MESSAGES } from "@slipway/protocol/agent/messages";
import { LARGEST_STORE_FILE } from "@slipway/protocol/agent/store-file";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readArguments } from "../dispatch/arguments.ts";
import { type FakeWorld, fakeWorld } from "../testing/fake-services.ts";
import type { ActionCall } from "./action.ts";
import { addPersistentDisk } from "./add_persistent_disk.ts";
import { mountDisk } from "./mount_disk.ts";
import { readStoreFile } from "./read_store_file.ts";
import { unmountDisk } from "./unmount_disk.ts";
import { writeStoreFile } from "./write_store_file.ts";

let world: FakeWorld;
let call: ActionCall;
const cid = "vol-1" as never;

beforeEach(async () => {
  world = await fakeWorld();
  call = { services: world.services, protocol: 3, signal: new AbortController().signal };
  world.disks.plug("vol-1");
  await addPersistentDisk({ diskCid: cid, hint: "/dev/vol-1" as never }, call);
  await mountDisk({ diskCid: cid }, call);
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

const on = (...names: string[]) => join(world.services.paths.store, ...names);
/** Writes a file with arguments read through the schema, as those of a message are. */
const write = async (path: string, content: string) =>
  await writeStoreFile(readArguments(AGENT_MESSAGES.write_store_file, [{ path, content }]) as never, call);
const read = async (path: string) =>
  await readStoreFile(readArguments(AGENT_MESSAGES.read_store_file, [{ path }]) as never, call);

describe("a file on the persistent disk", () => {
  test.each([["note"], [".hidden"], ["a/b/c.d"], ["..."], ["x..y/..z"]])(
    "%s is read as it was written, and replaced as a whole",
    async (path) => {
      for (const content of ["ahoy, Grüße\n", "", "\ufeffshort"]) {
        expect(await write(path, content)).toEqual({});
        expect(await read(path)).toEqual({ content });
        expect(await readFile(on(path), "utf8")).toBe(content);
      }
      const left = await readdir(on(), { recursive: true });
      expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
      expect((await stat(on(path))).mode & 0o777).toBe(0o600);
    },
  );

  test("may be as large as it may be, and no larger, in either direction", async () => {
    const most = "ä".repeat(LARGEST_STORE_FILE / 2);
    await write("note", most);
    expect(await read("note")).toEqual({ content: most });
    await expect(write("note", `${most}.`)).rejects.toThrow("1 MiB");
    await writeFile(on("big"), `${most}.`);
    await expect(read("big")).rejects.toThrow("larger than 1 MiB");
  });

  test.each(
    [[""], ["/etc/passwd"], [".."], ["."], ["../x"], ["a/../x"], ["a/.."], ["./a"], ["a//b"], ["a/"]].concat([
      ["a\0b"],
      ["a b"],
      ["a\nb"],
      ["x".repeat(600)],
      ["y/".repeat(200) + "z".repeat(300)],
    ]),
  )("is never at %j", async (path) => {
    await expect(write(path, "x")).rejects.toThrow("path");
    await expect(read(path)).rejects.toThrow("path");
    expect(await readdir(on())).toEqual([]);
  });

  test("needs a disk: nothing is written where it would be lost with the VM", async () => {
    await unmountDisk({ diskCid: cid }, call);
    await expect(write("note", "x")).rejects.toThrow("no persistent disk is mounted");
    await expect(read("note")).rejects.toThrow("no persistent disk is mounted");
    expect(await readdir(on())).toEqual([]);
  });

  test.each([
    ["nothing", "none", "no such file"],
    ["nothing in nothing", "none/note", "no such file"],
    ["a directory", "directory", "directory|plain file"],
    ["a pipe", "pipe", "not a plain file"],
    ["bytes that are no text", "bytes", "not UTF-8"],
    ["a file on the way", "bytes/note", "no directory"],
  ])("is not %s", async (_, path, why) => {
    await mkdir(on("directory"));
    await promisify(execFile)("mkfifo", [on("pipe")]);
    await writeFile(on("bytes"), Buffer.from([0x61, 0xff, 0xfe]));
    await expect(read(path)).rejects.toThrow(new RegExp(why));
  });

  test("does not take the place of a directory", async () => {
    await mkdir(on("directory", "inner"), { recursive: true });
    await expect(write("directory", "x")).rejects.toThrow("it is a directory");
    expect(await readdir(on())).toEqual(["directory"]);
  });
});

describe("links that a job has put on the disk", () => {
  let outside: string;
  beforeEach(async () => {
    outside = join(world.services.paths.base, "outside");
    await mkdir(outside);
    await writeFile(join(outside, "secret"), "root's");
    await symlink(outside, on("directory"));
    await symlink(join(outside, "secret"), on("file"));
    await symlink("../outside", on("relative"));
    await symlink("loop", on("loop"));
  });

  test.each(["file", "directory/secret", "relative/secret", "loop", "loop/x"])(
    "are not read through: %s",
    async (path) => {
      await expect(read(path)).rejects.toThrow("not followed");
    },
  );

  test.each(["directory/new", "relative/new", "loop/x"])("are not written through: %s", async (path) => {
    await expect(write(path, "x")).rejects.toThrow("not followed");
    expect(await readdir(outside)).toEqual(["secret"]);
  });

  test("are replaced by the file, and what they pointed to stays", async () => {
    await write("file", "mine");
    expect(await read("file")).toEqual({ content: "mine" });
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("root's");
  });
});

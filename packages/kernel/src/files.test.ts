import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { expect, it, onTestFinished } from "vitest";
import { exists, ifThere } from "./files.ts";

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

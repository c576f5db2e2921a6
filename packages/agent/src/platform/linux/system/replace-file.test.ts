import { readdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { replaceFile, writeIfChanged } from "./replace-file.ts";
import { testMachine } from "./testing/machine.ts";

describe("replacing a file", () => {
  it("gives it exactly the mode asked for, whatever the umask", async () => {
    const machine = await testMachine();
    await machine.write("etc/a", "old");
    const path = machine.paths.system("etc/a");
    const before = process.umask(0o077);
    try {
      await replaceFile(path, "new", 0o664);
    } finally {
      process.umask(before);
    }
    expect((await stat(path)).mode & 0o777).toBe(0o664);
    expect(await machine.read("etc/a")).toBe("new");
  });

  it("leaves nothing beside it when it fails", async () => {
    const machine = await testMachine();
    await machine.write("etc/directory/file", "x");
    const path = machine.paths.system("etc/directory");
    await expect(replaceFile(path, "new", 0o644)).rejects.toThrow("EISDIR");
    expect(await readdir(dirname(path))).toEqual(["directory"]);
  });

  it("leaves an equal file alone", async () => {
    const machine = await testMachine();
    const path = machine.paths.system("a");
    expect(await writeIfChanged(path, "x", 0o644)).toBe(true);
    const { ino } = await stat(path);
    expect(await writeIfChanged(path, "x", 0o644)).toBe(false);
    expect((await stat(path)).ino).toBe(ino);
  });
});

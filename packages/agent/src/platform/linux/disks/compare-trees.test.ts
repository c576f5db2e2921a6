import { chmod, link, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { differences } from "./compare-trees.ts";

describe("comparing two trees", () => {
  let base: string;
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), "slipway-trees-"));
    for (const side of ["a", "b"]) {
      const tree = join(base, side);
      await mkdir(join(tree, "d"), { recursive: true });
      await writeFile(join(tree, "d/file"), "content");
      await writeFile(join(tree, "d/other"), "more");
      await link(join(tree, "d/file"), join(tree, "hard"));
      await symlink("d/file", join(tree, "soft"));
    }
    await sameTimes();
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const at = (name: string) => join(base, "b", name);
  /** Times are set last, as every other change changes them. */
  async function sameTimes(): Promise<void> {
    for (const side of ["a", "b"]) {
      for (const name of ["d/file", "d/other", "d", ""])
        await utimes(join(base, side, name), 1000, 1000).catch(() => {});
      await systemExec("touch", ["-h", "-d", "@1000", join(base, side, "soft")]);
    }
  }

  const changes: Record<string, [change: () => Promise<unknown>, said: RegExp]> = {
    "one byte": [() => writeFile(at("d/other"), "morf"), /d\/other: content differs at byte 3/],
    "a mode": [() => chmod(at("d/other"), 0o600), /d\/other: mode is 100600/],
    "a length": [() => writeFile(at("d/other"), "mor"), /d\/other: size is 3, not 4/],
    "a missing file": [() => rm(at("d/other")), /d\/other: is missing in the copy/],
    "a file too many": [() => writeFile(at("d/extra"), ""), /d\/extra: is only in the copy/],
    "a link that leads elsewhere": [() => rm(at("soft")).then(() => symlink("d/othe", at("soft"))), /soft: /],
    "a directory for a file": [() => rm(at("d/other")).then(() => mkdir(at("d/other"))), /d\/other: mode/],
    "two files for two names of one": [
      () =>
        rm(at("hard"))
          .then(() => writeFile(at("hard"), "content"))
          .then(() => utimes(at("hard"), 1000, 1000)),
      /is not a hard link of the same file/,
    ],
  };

  it("finds none in equal trees", async () => {
    expect(await differences(noAttributes, join(base, "a"), join(base, "b"))).toEqual([]);
  });

  it.each(Object.keys(changes))("notices %s", async (kind) => {
    const [change, said] = changes[kind] ?? [];
    await change?.();
    await sameTimes();
    const found = await differences(noAttributes, join(base, "a"), join(base, "b"));
    expect(found.join("\n")).toMatch(said ?? /never/);
  });

  it("notices a time that differs", async () => {
    await utimes(at("d/other"), 1000, 1001);
    const found = await differences(noAttributes, join(base, "a"), join(base, "b"));
    expect(found).toEqual(["d/other: modification time differs"]);
  });

  it("notices an extended attribute that differs, and names the file", async () => {
    const exec: typeof systemExec = async (program, args, options) => {
      const value = options?.cwd === join(base, "b") ? "0x02" : "0x01";
      return { program, args, code: 0, stderr: "", stdout: `# file: d/file\nuser.note=${value}\n\n` };
    };
    const found = await differences(exec, join(base, "a"), join(base, "b"));
    expect(found).toEqual(["extended attributes of d/file"]);
  });

  it("ignores the directory that every new ext4 has", async () => {
    await mkdir(at("lost+found"));
    await sameTimes();
    expect(await differences(noAttributes, join(base, "a"), join(base, "b"))).toEqual([]);
  });
});

const noAttributes: typeof systemExec = async (program, args) => ({
  program,
  args,
  code: 0,
  stdout: "",
  stderr: "",
});

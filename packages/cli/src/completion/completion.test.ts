import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../commands.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { modelOf } from "./model.ts";
import { zshScript } from "./zsh.ts";

const model = modelOf(COMMANDS);
const shell = (name: string) =>
  ["/bin", "/usr/bin", "/usr/local/bin"].map((dir) => join(dir, name)).find(existsSync);

let dir: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
  await writeFile(join(dir, "slipway.bash"), bashScript(model));
});
afterAll(() => remove());

describe.runIf(shell("bash") !== undefined)("in bash", () => {
  /** What is offered where the last word stands. */
  async function offered(...words: readonly string[]): Promise<readonly string[]> {
    const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _slipway; printf "%s\\n" "\${COMPREPLY[@]}"`;
    const { code, stdout, stderr } = await systemExec("bash", [
      "--norc",
      "-uc",
      script,
      "bash",
      join(dir, "slipway.bash"),
      "slipway",
      ...words,
    ]);
    expect([code, stderr]).toEqual([0, ""]);
    return stdout.split("\n").filter((line) => line !== "");
  }

  it("offers every command, whatever options stand before it", async () => {
    const all = await offered("");
    for (const { name } of COMMANDS) expect(all).toContain(name.split(" ")[0]);
    expect(await offered("-d", "deploy", "--json", "manif")).toEqual(["manifest"]);
  });

  it("offers the second word of a command of two", async () => {
    expect(await offered("stemcell", "")).toEqual(["build", "inspect", "repack"]);
    expect(await offered("stemcell", "build", "--from")).toEqual([
      "--from-root",
      "--from-image",
      "--from-host",
    ]);
  });

  it("offers options of the command, by its aliases too, and those of all", async () => {
    expect(await offered("recreate", "--skip")).toEqual(["--skip-drain"]);
    expect(await offered("is", "--det")).toEqual(["--details"]);
    expect(await offered("locks", "--ca")).toEqual(["--ca-cert"]);
    expect(await offered("locks", "--skip")).toEqual([]);
  });

  it("leaves the value of an option to the shell", async () => {
    expect(await offered("-d", "")).toEqual([]);
    expect(await offered("upload-stemcell", "--name", "")).toEqual([]);
    expect(await offered("upload-stemcell", "stem")).toEqual([]);
  });
});

describe.each([
  ["zsh", zshScript(model), "-n"],
  ["fish", fishScript(model), "--no-execute"],
])("in %s", (name, script, check) => {
  it("every command and option is there", () => {
    for (const { name: command } of COMMANDS) expect(script).toContain(command.split(" ").at(-1));
    for (const option of ["skip-drain", "ca-cert", "object-type"]) expect(script).toContain(option);
  });

  it.runIf(shell(name) !== undefined)("the script can be read", async () => {
    const file = join(dir, `slipway.${name}`);
    await writeFile(file, script);
    expect(await systemExec(name, [check, file])).toMatchObject({ code: 0, stderr: "" });
  });
});

it("a quote in a summary stays a quote", () => {
  const odd = modelOf([{ name: "x", summary: "it's: a $(y)", topic: "documents", run: async () => 0 }]);
  expect(zshScript(odd)).toContain("'x:it'\\''s: a $(y)'");
  expect(fishScript(odd)).toContain("-d 'it\\'s: a $(y)'");
});

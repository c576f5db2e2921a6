import { existsSync } from "node:fs";
import { mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { COMMANDS } from "../commands.ts";
import { fishScript } from "./fish.ts";
import { modelOf } from "./model.ts";
import { Completing, isHere, SHELLS } from "./testing/shells.ts";
import { zshScript } from "./zsh.ts";

const KNOWN = [
  ...["deployment - shop", "deployment - stock", "instance shop db/0f1c", "instance shop db"],
  ...["instance stock app/77aa", "task - 12", "task - 11", "stemcell - slipway-local/1.0"],
];

describe.each(SHELLS.filter((shell) => needs(shell, isHere(shell))))("in %s", (name) => {
  sampleTests(1 / 2);
  let dir: string;
  let remove: () => Promise<void>;
  let shell: Completing;
  beforeAll(async () => {
    ({ path: dir, remove } = await temporaryDirectory());
    shell = await Completing.in(dir, name, modelOf(COMMANDS));
    await mkdir(join(dir, "completion"));
    for (const file of ["default", "https___10.0.0.6_25555"])
      await writeFile(join(dir, "completion", file), `${KNOWN.join("\n")}\n`);
  });
  afterAll(() => remove());
  const offered = (line: string) => shell.offered(line);

  it("offers every command, whatever options stand before it", async () => {
    const all = await offered("");
    for (const { name: command } of COMMANDS) expect(all).toContain(command.split(" ")[0]);
    expect(await offered("-d deploy --json manif")).toEqual(["manifest"]);
    expect(await offered("--deployment=deploy --json manif")).toEqual(["manifest"]);
  });

  it("offers the second word of a command of two", async () => {
    expect(await offered("stemcell ")).toEqual(["build", "inspect", "repack"]);
    expect(await offered("stemcell build --from")).toEqual(["--from-host", "--from-image", "--from-root"]);
  });

  it("offers options of the command, by its aliases too, and those of all", async () => {
    expect(await offered("recreate --skip")).toEqual(["--skip-drain"]);
    expect(await offered("is --det")).toEqual(["--details"]);
    expect(await offered("locks --ca")).toEqual(["--ca-cert"]);
    expect(await offered("locks --skip")).toEqual([]);
  });

  describe("what the Director has", () => {
    it("is offered by name: deployments, their instances, tasks, stemcells", async () => {
      expect(await offered("-d ")).toEqual(["shop", "stock"]);
      expect(await offered("deploy --deployment sh")).toEqual(["shop"]);
      expect(await offered("-d shop recreate ")).toEqual(["db", "db/0f1c"]);
      expect(await offered("--deployment=stock recreate ")).toEqual(["app/77aa"]);
      expect(await offered("recreate app")).toEqual(["app/77aa"]);
      expect(await offered("task ")).toEqual(["11", "12"]);
      expect(await offered("explain --task 1")).toEqual(["11", "12"]);
      expect(await offered("delete-stemcell ")).toEqual(["slipway-local/1.0"]);
    });

    it("is offered behind a = as well", async () => {
      const plain = async (line: string) =>
        (await offered(line)).map((one) => one.replace("--deployment=", ""));
      expect(await plain("--deployment=st")).toEqual(["stock"]);
      expect(await plain("--deployment=")).toEqual(["shop", "stock"]);
    });

    it("is read from the file of the environment, and of the deployment of the environment", async () => {
      onTestFinished(() => {
        shell.env = {};
      });
      shell.env = { BOSH_ENVIRONMENT: "https://10.0.0.6:25555", BOSH_DEPLOYMENT: "stock" };
      expect(await offered("-d st")).toEqual(["stock"]);
      expect(await offered("recreate ")).toEqual(["app/77aa"]);
      shell.env = { BOSH_ENVIRONMENT: "https://elsewhere" };
      expect(await offered("-d st")).toEqual([]);
    });

    it("is refreshed in the background when it is old, without waiting for the answer", async () => {
      await utimes(join(dir, "completion", "default"), 1, 1);
      // One that never ends. It would hold the test, if it were waited for.
      const program = `#!/bin/sh\necho $$ > "${join(dir, "pid")}"\necho "$@" > "${join(dir, "asked")}"\nexec sleep 1000\n`;
      await writeFile(join(dir, "slipway"), program, { mode: 0o755 });
      expect(await offered("-d ")).toEqual(["shop", "stock"]);
      await expect
        .poll(() => readFile(join(dir, "asked"), "utf8").catch(() => ""))
        .toBe("completion refresh\n");
      await rm(join(dir, "asked"));
      // Now it is young.
      await offered("-d ");
      expect(existsSync(join(dir, "asked"))).toBe(false);
      process.kill(Number(await readFile(join(dir, "pid"), "utf8")));
    });
  });

  it("leaves to the shell what is a file", async () => {
    const plain = join(dir, "stemcell.tgz");
    await writeFile(plain, "");
    // bash is asked for its own completion by `complete -o default`, when ours has nothing.
    const files = name === "bash" ? [] : ["stemcell.tgz"];
    for (const before of ["upload-stemcell --name", "upload-stemcell"]) {
      const found = await offered(`${before} ${plain.slice(0, -4)}`);
      expect(found.map((one) => basename(one))).toEqual(files);
    }
  });
});

it("a quote in a summary stays a quote", () => {
  const odd = modelOf([{ name: "x", summary: "it's: a $(y)", topic: "documents", run: async () => 0 }]);
  expect(zshScript(odd)).toContain("'x:it'\\''s: a $(y)'");
  expect(fishScript(odd)).toContain("'x\tit\\'s: a $(y)'");
});

import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../testing/run-cli.ts";
import { makeProject } from "./project.ts";

const run = promisify(execFile);
const python = await run("python3", ["--version"], { env: { PATH: "/usr/bin:/bin" } }).then(
  () => true,
  () => false,
);

const template = fileURLToPath(new URL("../../cpi-template", import.meta.url));

async function project(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  // The SDK and the agent belong to the other template.
  return await makeProject(join(path, "my-cpi"), { template, sdk: "", agent: "" }, "python");
}

describe("slipway cpi init --language python", () => {
  it("makes a project without an SDK, whose programs can be run", async () => {
    const dir = await project();
    expect((await readdir(dir)).sort()).toEqual([".gitignore", "README.md", "ci", "cpi", "cpi.json", "test"]);
    for (const program of ["cpi", "test"]) expect((await stat(join(dir, program))).mode & 0o111).toBe(0o111);
  });

  it.runIf(needs("python3", python, "there is no python3 in /usr/bin"))(
    "makes a CPI that keeps its cloud where cpi.json says",
    async () => {
      const dir = await project();
      const call = async (method: string, ...args: readonly unknown[]): Promise<unknown> => {
        const running = run(join(dir, "cpi"), ["--configFile", join(dir, "cpi.json")], {
          env: { PATH: "/usr/bin:/bin" },
        });
        running.child.stdin?.end(
          JSON.stringify({ method, arguments: args, context: { director_uuid: "d" } }),
        );
        return (JSON.parse((await running).stdout) as { readonly result: unknown }).result;
      };
      expect(await call("info")).toEqual({ stemcell_formats: ["general-tar"], api_version: 2 });
      const disk = await call("create_disk", 16, {}, null);
      expect(await call("has_disk", disk)).toBe(true);
      expect(await readdir(join(dir, "cloud", "disks"))).toEqual([disk]);
    },
  );

  it("refuses a language that there is no template for, and names those that there are", async () => {
    expect(await runCli(["cpi", "init", "/nowhere/my-cpi", "--language", "cobol"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("typescript, python"),
    });
  });
});

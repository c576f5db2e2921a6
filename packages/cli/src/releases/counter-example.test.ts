import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { unpackRelease } from "@slipway/engine/releases/archive";
import { systemExec } from "@slipway/kernel/exec";
import { freePort } from "@slipway/testkit/free-port";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../testing/run-cli.ts";

const EXAMPLE = fileURLToPath(new URL("../../../../examples/counter-release", import.meta.url));
const program = (name: string) => join(EXAMPLE, "src/counter", `${name}.mjs`);

describe("the example of a release", () => {
  let dir: string;
  let remove: () => Promise<void>;
  let server: ChildProcess | undefined;
  beforeAll(async () => {
    ({ path: dir, remove } = await temporaryDirectory());
  });
  afterAll(async () => {
    server?.kill("SIGKILL");
    await remove();
  });

  it("is built: three jobs, one package, an errand", async () => {
    await cp(EXAMPLE, join(dir, "release"), { recursive: true });
    const argv = ["create-release", "--dir", join(dir, "release"), "--tarball", join(dir, "counter.tgz")];
    const ran = await runCli(argv, { env: { HOME: dir } });
    expect(ran).toMatchObject({ code: 0, err: "" });
    await mkdir(join(dir, "unpacked"));
    const { release, jobs, packages } = await unpackRelease(join(dir, "counter.tgz"), join(dir, "unpacked"));
    expect(release.name).toBe("counter");
    expect(jobs.map(({ name, job }) => [name, job.errand, job.packages])).toEqual([
      ["counter", false, ["counter"]],
      ["smoke", true, ["counter"]],
      ["visitor", false, ["counter"]],
    ]);
    expect(packages.map(({ name }) => name)).toEqual(["counter"]);
  });

  /** Returns the job's properties with the manifest's variables generated. */
  const properties = async () => {
    const argv = ["interpolate", join(EXAMPLE, "manifest.yml"), "--vars-store", join(dir, "creds.yml")];
    const { out, err } = await runCli(argv);
    expect(err).toBe("");
    const manifest = parseYaml(out, "manifest") as {
      readonly instance_groups: readonly {
        readonly jobs: readonly {
          readonly properties: { readonly password: string; readonly tls: Record<string, string> };
        }[];
      }[];
    };
    const found = manifest.instance_groups[0]?.jobs[0]?.properties;
    if (found === undefined) throw new Error(out);
    return found;
  };

  it("counts: what it has said is on its disk, also after it was ended and started again", async () => {
    const { password, tls } = await properties();
    const port = await freePort();
    const file = join(dir, "count");
    const write = (name: string, config: object) =>
      writeFile(join(dir, `${name}.json`), JSON.stringify({ ip: "127.0.0.1", port, password, ...config }));
    await write("counter", { ...tls, store: dir, greeting: "<Hi>" });
    await write("smoke", { ca: tls.ca, counters: ["127.0.0.1"] });
    const run = (name: string, config: string) =>
      systemExec(process.execPath, [program(name), join(dir, `${config}.json`)]);

    for (const visits of [1, 2]) {
      server = spawn(process.execPath, [program("server"), join(dir, "counter.json")], { stdio: "ignore" });
      const ended = once(server, "exit");
      expect(await run("ready", "counter")).toMatchObject({ code: 0, stderr: "" });
      const { code, stdout } = await run("smoke", "smoke");
      expect(stdout).toContain(`ok   the visit was counted: ${visits - 1} before, ${visits} after`);
      expect(stdout).not.toContain("FAIL");
      expect(code).toBe(0);
      server.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
      expect(await readFile(file, "utf8")).toBe(`${visits}\n`);
    }
    expect((await run("smoke", "smoke")).code).not.toBe(0);
  });
});

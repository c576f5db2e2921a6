import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { manual } from "@slipway/testkit/docker-cloud";
import { writeConfig } from "@slipway/testkit/executable";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { matrixCommand } from "../matrix/cli.ts";
import { EIGHT_MIXES } from "../matrix/mixes.ts";
import { runMatrix } from "../matrix/run.ts";
import { passesChecks } from "../testing/passes-checks.ts";
import { ResourceTracker } from "./resource-tracker.ts";

/** True if Python runs with nearly no environment, as a Director runs it. */
const python = await promisify(execFile)("python3", ["--version"], { env: { PATH: "/usr/bin:/bin" } }).then(
  () => true,
  () => false,
);

describe.runIf(needs("python3", python, "there is no python3 in /usr/bin"))(
  "the CPI of docs/talk-to-a-cpi.md in Python",
  () => {
    let dir: string;
    let program: string;
    let cloud: ResourceTracker;
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), "slipway-python-"));
      const page = await readFile(new URL("../../../../docs/talk-to-a-cpi.md", import.meta.url), "utf8");
      const [, source] = /```python\n([\s\S]*?)```/.exec(page) ?? [];
      program = join(dir, "cpi");
      await writeFile(program, source ?? "", { mode: 0o755 });
      await writeFile(join(dir, "image"), "an image\n");
      cloud = new ResourceTracker({
        cpi: {
          path: program,
          configFile: await writeConfig(dir, { tiny: { dir } }),
          clock: systemClock,
          deadlineMs: 120_000,
        },
        stemcell: { image: join(dir, "image"), cloudProperties: {} },
        vmProperties: {},
        networks: (n) => ({ private: manual(`10.0.0.${n + 10}`) }),
        uuid: () => systemRandom.uuid(),
      });
    });
    afterAll(() => rm(dir, { recursive: true, force: true }));

    it("plays the mix of new parts without the registry", async () => {
      const [row] = await runMatrix(program, EIGHT_MIXES.slice(-1));
      expect(row).toMatchObject({ problems: [], registryless: true });
    });

    it("agrees with the contract when the mixes are limited to the new one", async () => {
      const said: string[] = [];
      const say = (text: string) => void said.push(text);
      const io = { out: say, err: say };
      expect({ code: await matrixCommand(["--cpi", program, "--new"], "", io), said: said.join("") }).toEqual(
        {
          code: 0,
          said: expect.stringContaining(
            "1 of 1 rows agree with the contract.\nThe registry was used in 0 of them and not touched in 1.",
          ),
        },
      );
      expect(await matrixCommand(["--cpi", program, "--new", "--old"], "", io)).toBe(2);
    });

    it("refuses a VM for which a registry is needed", async () => {
      const args = await cloud.vmArguments();
      for (const asking of [{ apiVersion: undefined }, { context: { vm: null } }])
        expect((await cloud.call("create_vm", args, asking)).error?.message).toContain("registry");
    });

    passesChecks("the page in Python", () => cloud, [39, 54, 55, 56, 57, 61, 62, 64]);
  },
);

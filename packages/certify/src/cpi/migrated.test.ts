import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { bundled } from "@slipway/testkit/bundle";
import { manual } from "@slipway/testkit/docker-cloud";
import { writeConfig } from "@slipway/testkit/executable";
import { needs } from "@slipway/testkit/needs";
import { sampleOf } from "@slipway/testkit/sample";
import { tempDir } from "@slipway/testkit/waiting";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callCpi } from "../exec-cpi.ts";
import { EIGHT_MIXES } from "../matrix/mixes.ts";
import { runMatrix } from "../matrix/run.ts";
import { passesChecks } from "../testing/passes-checks.ts";
import { ResourceTracker } from "./resource-tracker.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url));
const example = (path: string) => join(root, "examples/migrate-a-cpi", path);
const works = async (program: string, ...args: readonly string[]) =>
  await run(program, args).then(
    () => true,
    () => false,
  );

const OLD = EIGHT_MIXES.filter(({ cpi }) => cpi === 1);
/** Methods that the contract lets a CPI do without: their checks cannot be run. */
const WITHOUT = [39, 54, 55, 56, 57, 61, 62, 64];

interface Programs {
  readonly before: string;
  readonly after: string;
}

/** A CPI before and after its migration, certified by the rows of the contract and by the checks for every CPI. */
function isMigrated(
  name: string,
  build: (dir: string) => Promise<Programs>,
  without: readonly number[],
): void {
  let programs: Programs;
  let cloud: ResourceTracker;
  let dir: string;
  const exec = (path: string, configFile: string) => ({
    ...{ path, configFile, clock: systemClock, deadlineMs: 120_000 },
  });
  const info = { method: "info", arguments: [], context: { director_uuid: "d" } };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "slipway-migrated-"));
    programs = await build(dir);
    await writeFile(join(dir, "image"), "an image\n");
    cloud = new ResourceTracker({
      // Without a registry: version 2 must need none.
      cpi: exec(programs.after, await writeConfig(dir, { tiny: { dir } })),
      stemcell: { image: join(dir, "image"), cloudProperties: {} },
      vmProperties: {},
      networks: (n) => ({ private: manual(`10.0.0.${n + 10}`) }),
      uuid: () => systemRandom.uuid(),
    });
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it("plays every mix of a version 1 CPI before the migration", async () => {
    const mixes = sampleOf(`${name} before`, OLD, 1);
    const rows = await runMatrix(programs.before, mixes);
    expect(rows.map(({ problems }) => problems)).toEqual(mixes.map(() => []));
    expect(rows.every(({ registryless }) => !registryless)).toBe(true);
  });

  it("plays every mix after the migration, and asks the registry only where an old part needs it", async () => {
    const mixes = [...sampleOf(`${name} after`, EIGHT_MIXES.slice(0, -1), 1), ...EIGHT_MIXES.slice(-1)];
    const rows = await runMatrix(programs.after, mixes);
    expect(rows.map(({ problems }) => problems)).toEqual(mixes.map(() => []));
    expect(rows.map(({ registryless }) => registryless)).toEqual(
      mixes.map((_, at) => at === mixes.length - 1),
    );
  });

  it("refuses to make a VM of an old stemcell without a registry after the migration", async () => {
    const args = await cloud.vmArguments();
    const old = { context: { vm: { stemcell: {} } } };
    const { error } = await cloud.call("create_vm", args, old);
    expect(error).toMatchObject({
      type: "Bosh::Clouds::CloudError",
      message: expect.stringContaining("registry"),
    });
  });

  it("reports version 2 or later only after the migration", async () => {
    const registry = { endpoint: "http://127.0.0.1:1", user: "u", password: "p" };
    const config = await writeConfig(await tempDir(), { tiny: { dir }, registry });
    const reported = async (path: string) => (await callCpi(exec(path, config), info)).result as object;
    expect([undefined, 1]).toContain(
      ((await reported(programs.before)) as { api_version?: number }).api_version,
    );
    expect(await reported(programs.after)).toHaveProperty("api_version");
    const { api_version } = (await reported(programs.after)) as { api_version: number };
    expect(api_version).toBeGreaterThanOrEqual(2);
  });

  describe("after the migration", () => passesChecks(`${name}, migrated`, () => cloud, without));
}

const ruby = needs("ruby", await works("ruby", "--version"), "ruby is not installed");
describe.runIf(ruby)("the CPI of docs/migrate-a-cpi.md in Ruby", () => {
  const programs = { before: example("ruby/before.rb"), after: example("ruby/after.rb") };
  isMigrated("ruby", async () => programs, WITHOUT);
});

const go = needs("go", await works("go", "version"), "go is not installed");
describe.runIf(go)("the CPI of docs/migrate-a-cpi.md in Go", () => {
  const build = async (dir: string) => {
    const env = {
      ...(process.env.HOME === undefined && { GOCACHE: join(dir, "cache") }),
      ...process.env,
      GOFLAGS: "-mod=readonly",
      GOTOOLCHAIN: "local",
    };
    for (const part of ["before", "after"])
      await run("go", ["build", "-o", join(dir, part), `./${part}`], { cwd: example("go"), env });
    return { before: join(dir, "before"), after: join(dir, "after") };
  };
  isMigrated("go", build, WITHOUT);
});

describe("the CPI of docs/migrate-a-cpi.md with our SDK", () => {
  const before = bundled("../testing/tiny-cpi-v1.ts", import.meta.url);
  const after = bundled("../../../../examples/tiny-cpi/src/main.ts", import.meta.url);
  isMigrated("sdk", async () => ({ before: before(), after: after() }), [56, 61, 62, 64]);
});

describe("docs/migrate-a-cpi.md", () => {
  it("quotes its examples as they are", async () => {
    const page = await readFile(join(root, "docs/migrate-a-cpi.md"), "utf8");
    const quoted = [...page.matchAll(/<!-- from (\S+) -->\n```\w+\n([\s\S]*?)```/g)];
    expect(quoted.length).toBeGreaterThan(8);
    const lines = (text: string) => text.split("\n").map((line) => line.trim());
    for (const [, file = "", block = ""] of quoted) {
      const source = lines(await readFile(join(root, "examples", file), "utf8")).join("\n");
      // A gap is shown as `...`.
      for (const part of lines(block)
        .join("\n")
        .split(/^(?:#|\/\/) \.\.\.$/m))
        expect(source, `${file} has no such lines`).toContain(part.trim());
    }
  });
});

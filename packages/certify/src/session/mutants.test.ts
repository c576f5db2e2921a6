import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { sampleOf } from "@slipway/testkit/sample";
import { tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import type { RunProgram } from "../exec-cpi.ts";
import { CPI_RULES, isCpiRuleId } from "../rules/catalogue.ts";
import { fullTinyProgram } from "../testing/full-tiny.ts";
import { MUTANTS } from "../testing/mutants.ts";
import { certify } from "./certify.ts";

/** Every mutant is checked against every rule: all of them take half a minute of processor time. */
const SAMPLE = 4;

async function certified(program: (configFile: string) => RunProgram, only: readonly string[] = []) {
  const dir = await tempDir();
  const cloud = join(dir, "cloud");
  await mkdir(cloud);
  const [cpi, config] = [join(dir, "cpi"), join(dir, "cpi.json")];
  await writeFile(cpi, "a program\n");
  await writeFile(config, JSON.stringify({ tiny: { dir: cloud }, cloud_password: "of-the-cloud" }));
  const { receipt, left } = await certify(
    {
      cpi,
      config,
      cloud: { observe: { user_data: ["cat", join(cloud, "vms", "{vm}", "user-data.json")] } },
      image: undefined,
      versions: [2],
      only,
      seed: "s",
    },
    {
      clock: systemClock,
      random: systemRandom,
      runs: join(dir, "runs"),
      stop: new AbortController().signal,
      program,
    },
  );
  const of = (verdict: string) => receipt.results.filter((one) => one.verdict === verdict);
  return { receipt, left, of, cloud };
}

describe("a CPI that keeps every rule", () => {
  it("passes all of them and leaves nothing in its cloud", async () => {
    const { receipt, left, of, cloud } = await certified((config) => fullTinyProgram(config));
    expect(
      of("passed")
        .map(({ id }) => id)
        .sort(),
    ).toEqual(Object.keys(CPI_RULES).sort());
    expect(receipt.results).toHaveLength(of("passed").length);
    expect(left).toEqual([]);
    for (const kind of ["vms", "disks", "snapshots", "stemcells"])
      expect(await readdir(join(cloud, kind)), kind).toEqual([]);
  });
});

describe("a CPI that quotes its configuration in errors", () => {
  it("gets a receipt without the passwords of the configuration and of the run's registry", async () => {
    let quoted = "";
    const { receipt, of } = await certified(
      (config) => async () => {
        quoted = await readFile(config, "utf8");
        const error = { type: "Bosh::Clouds::CloudError", message: quoted, ok_to_retry: false };
        return { out: JSON.stringify({ result: null, error, log: "" }), err: quoted, code: 0 };
      },
      ["CPI-VM-"],
    );
    const { registry, cloud_password } = JSON.parse(quoted) as {
      registry: { password: string };
      cloud_password: string;
    };
    expect(of("failed").some(({ reason }) => reason?.includes("cloud_password"))).toBe(true);
    const shown = JSON.stringify(receipt);
    for (const secret of [registry.password, cloud_password]) expect(shown).not.toContain(secret);
  });
});

describe("a CPI that breaks one rule", () => {
  it("exists for every rule", () => {
    expect(Object.keys(MUTANTS).sort()).toEqual(Object.keys(CPI_RULES).sort());
  });

  const mutants = Object.entries(MUTANTS).map(([id, mutant]) => ({ id, mutant, title: mutant.breaks }));
  it.each(sampleOf("mutants of the tiny CPI", mutants, SAMPLE))(
    "fails $id and no other rule: $title",
    async ({ id, mutant }) => {
      const { of } = await certified(mutant.program);
      const failed = of("failed").map((one) => one.id);
      expect(isCpiRuleId(id)).toBe(true);
      expect(failed.sort()).toEqual([id, ...(mutant.also?.rules ?? [])].sort());
      const [first] = of("failed").filter((one) => one.id === id);
      expect(first?.conversation?.some(({ marked }) => marked)).toBe(true);
    },
  );
});

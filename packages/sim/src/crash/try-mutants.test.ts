import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { sampleOf, seed } from "@slipway/testkit/sample";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Lane } from "./lane.ts";
import { ALL_SCENARIOS } from "./scenarios/table.ts";
import { tryMutants } from "./try-mutants.ts";

/** A short scenario for each step that makes something in the cloud. */
const SCENARIOS = {
  create_vm: "deploy VMs whose agents never answer",
  create_disk: "deploy after a create_vm that could not be read",
  create_named_disk: "from one disk to named ones",
  create_stemcell: "upload a stemcell",
  create_network: "make a network of which the CPI refuses a part",
} as const;

describe("the crash run", () => {
  let dir = "";
  let lane: Lane;
  beforeAll(async () => {
    const program = (name: string) => bundle(fileURLToPath(new URL(`../bin/${name}.ts`, import.meta.url)));
    dir = await passableDirectory("mutants");
    const [file, starter] = [await program("crash-child"), await program("crash-child-start")];
    lane = await Lane.open(dir, { file, starter, code: join(dir, "code") });
  });
  afterAll(async () => {
    await lane.close();
    await rm(dir, { recursive: true, force: true });
  });

  const steps = sampleOf("mutants of create steps", Object.keys(SCENARIOS), 1) as (keyof typeof SCENARIOS)[];

  it.each(steps)(`notices every part of %s that is switched off (seed ${seed()})`, async (step) => {
    const scenarios = ALL_SCENARIOS.filter(({ name }) => name === SCENARIOS[step]);
    const said: string[] = [];
    const tried = await tryMutants([lane], { scenarios, steps: step }, (line) => said.push(line));
    expect(tried.map(({ mutant }) => mutant.part).toSorted()).toEqual([
      "intent",
      "record",
      "refusal",
      "settle",
    ]);
    expect(tried.filter(({ by }) => by === undefined)).toEqual([]);
  });
});

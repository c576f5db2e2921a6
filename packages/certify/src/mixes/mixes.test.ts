import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { adapter } from "@slipway/cpi-local/certify/adapter";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { needs } from "@slipway/testkit/needs";
import { chosen, sampleOf, seed, whole } from "@slipway/testkit/sample";
import { canUseSandboxes, Sandbox } from "@slipway/testkit/sandbox";
import { plays } from "@slipway/testkit/stories";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONTRACT, type ContractRow, type MixPlayed } from "../matrix/contract.ts";
import { EIGHT_MIXES } from "../matrix/mixes.ts";
import { disagreements } from "./judge.ts";
import { mustBeBuilt, programsIn } from "./programs.ts";
import type { CallSeen, MixRow, MixSnapshot } from "./row.ts";
import { runMixes } from "./run.ts";
import { tableText } from "./table.ts";
import { LIES } from "./testing/lies.ts";
import { titleOf } from "./testing/title.ts";
import { processesOf } from "./testing/traces.ts";

const packages = fileURLToPath(new URL("../../..", import.meta.url));
const programs = programsIn(packages, join(packages, "cpi-local/dist", adapter.executable));
const playable = needs("userns", await canUseSandboxes(), "sandboxes are processes with mounts of their own");
const LONGEST_MS = 1_200_000;

const isNewest = (mix: MixPlayed) => titleOf(mix) === "2/2/2";
/** Each is a Director and its cloud, or an environment, from the first deploy to the end. */
const mixes: readonly ContractRow[] = sampleOf("mixes", CONTRACT, 1);
const isPlayed = (title: string) => mixes.some((mix) => titleOf(mix) === title);

let parent = "";
/** Sandboxes begin with all mounts of the moment: those of other suites must not be among them. */
let apart: Sandbox | undefined;
beforeAll(async () => {
  mustBeBuilt(programs);
  if (playable && process.getuid?.() === 0) apart = await Sandbox.open();
  parent = await passableDirectory("mixes-test");
});
afterAll(async () => {
  await apart?.close();
  rmSync(parent, { recursive: true, force: true });
});

const play = (signal: AbortSignal, wanted: readonly MixPlayed[]) =>
  runMixes(
    {
      programs,
      openCloud: () => adapter.open({ agent: programs.agent, parent, random: systemRandom, options: {} }),
      parent,
      within: apart?.command(),
      clock: systemClock,
      random: systemRandom,
      signal,
    },
    undefined,
    wanted,
  );

describe.runIf(playable && plays("parts", "mixes"))(
  `${mixes.length} of the eight mixes, played with real processes (seed ${seed()})`,
  () => {
    let rows: readonly MixRow[] = [];
    beforeAll(async () => {
      rows = await play(new AbortController().signal, mixes);
    }, LONGEST_MS);

    const row = (name: string): MixRow => {
      const found = rows.find((one) => titleOf(one) === name);
      if (found === undefined) throw new Error(`there is no row ${name}`);
      return found;
    };

    it.each(mixes.map(titleOf))("%s is as the contract says", (name) => {
      expect(row(name).problems).toEqual([]);
      expect(row(name).agrees).toBe(true);
    });

    it.runIf(isPlayed("2/2/2"))(
      "have no registry where all three are new: not in user-data, not in the settings, not as a process",
      () => {
        const { calls, moments } = row("2/2/2");
        expect([...calls.map(({ after }) => after), ...moments.map(({ registry }) => registry)]).toEqual(
          Array(calls.length + moments.length).fill("not started"),
        );
        expect(inUse(moments).map(({ userData, settingsFrom }) => [userData, settingsFrom])).toEqual(
          Array(3).fill(["settings", "user-data"]),
        );
      },
    );

    it.runIf(isPlayed("2/2/1"))(
      "send the hint and write it into the registry where only the stemcell is old",
      () => {
        const { calls, moments, told } = row("2/2/1");
        for (const call of ofMethod(calls, "attach_disk"))
          expect(call.after).toMatchObject({ disks: { [call.disk ?? ""]: call.answer } });
        for (const { hints, disk, registry } of inUse(moments)) {
          expect(hints).toEqual({});
          expect(registry).toMatchObject({ disks: { [disk ?? ""]: expect.anything() } });
        }
        expect(told[0]?.messages.slice(0, 2)).toEqual(["add_persistent_disk", "mount_disk"]);
      },
    );

    it("go by the registry alone where Director or CPI is old", () => {
      const old = rows.filter(({ director, cpi }) => director === 1 || cpi === 1);
      expect(old).toHaveLength(mixes.filter(({ attachDisk }) => attachDisk === "nothing").length);
      for (const { calls, moments, told } of old) {
        expect(new Set(ofMethod(calls, "create_vm").map(({ answer }) => answer))).toEqual(new Set(["cid"]));
        expect(new Set(ofMethod(calls, "attach_disk").map(({ answer }) => answer))).toEqual(new Set([null]));
        for (const moment of inUse(moments))
          expect(moment).toMatchObject({ hints: {}, userData: "registry", settingsFrom: "registry" });
        expect(told.flatMap(({ messages }) => messages)).not.toContain("add_persistent_disk");
      }
    });

    it("keep what was written through a new VM and a new disk", () => {
      for (const { moments, deployer } of rows) {
        const [deployed, recreated, resized] = moments;
        expect(recreated).toMatchObject({ disk: deployed?.disk, data: "kept" });
        expect(recreated?.vm).not.toBe(deployed?.vm);
        expect(resized).toMatchObject({ data: "kept" });
        // As upstream's, create-env makes a new VM for every change.
        expect(resized?.vm === recreated?.vm).toBe(deployer === "Director");
        expect(resized?.disk).not.toBe(recreated?.disk);
      }
    });

    it("leave no file and no process", () => {
      expect(readdirSync(parent)).toEqual([]);
      expect(processesOf(parent)).toEqual([]);
    });

    it.each(Object.entries(LIES))("would be found wrong if %s", (_, lie) => {
      // Some lies are of what only a Director does.
      const told = rows.filter((one) => !isDeepStrictEqual(lie(one), one));
      if (whole()) expect(told.length).toBeGreaterThan(0);
      expect(told.filter((one) => disagreements(lie(one)).length === 0).map(titleOf)).toEqual([]);
    });

    it("read as a table that fits a wide terminal", () => {
      const lines = tableText(rows).split("\n");
      expect(lines).toHaveLength(1 + mixes.length);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(140);
      const has = (title: string, line: RegExp) =>
        expect(lines.filter((one) => line.test(one))).toHaveLength(isPlayed(title) ? 1 : 0);
      const NEWEST = "\\[cid, networks\\] +full settings +not started +disk hint +";
      has("2/2/2", new RegExp(`^Director v2 +v2 +v2 +${NEWEST}hint, mount +user-data +2 times +ok$`));
      const ofFirst = `${NEWEST}old hint, mount +user-data +2 times +ok$`;
      has("2/2/2 of 2018", new RegExp(`^Director v2 +v2 +v2 of 2018 +${ofFirst}`));
      has(
        "create-env 2/2/2",
        new RegExp(`^create-env v2 +v2 +v2 +${NEWEST}hint, mount +user-data +2 times +ok$`),
      );
      if (isPlayed("1/1/1"))
        expect(lines[1]).toMatch(
          /^Director v1 +v1 +v1 +cid +registry URL +10 writes +nothing +mount +registry +2 times +ok$/,
        );
    });
  },
);

describe("the judge", () => {
  it("has the eight rows of the reference table, and no registry in the last one only", () => {
    const modern = CONTRACT.filter(({ agent, deployer }) => agent !== "first v2" && deployer === "Director");
    expect(modern.map(({ director, cpi, stemcell }) => ({ director, cpi, stemcell }))).toEqual(EIGHT_MIXES);
    expect(modern.filter(({ registry }) => !registry).map(titleOf)).toEqual(["2/2/2"]);
  });

  it("does not work the contract out by the code it judges", () => {
    const dirs = ["mixes", "matrix"].map((name) => fileURLToPath(new URL(`../${name}`, import.meta.url)));
    const sources = dirs.flatMap((dir) =>
      readdirSync(dir)
        .filter((name) => name.endsWith(".ts") && !name.includes(".test."))
        .map((name) => readFileSync(join(dir, name), "utf8")),
    );
    expect(sources.length).toBeGreaterThan(10);
    expect(sources.filter((source) => /protocol\/negotiate/.test(source))).toEqual([]);
  });
});

describe.runIf(playable && chosen("mixes stopped", 1 / 6))("a run that is stopped", () => {
  it(
    "ends everything it has started",
    async () => {
      const stop = new AbortController();
      const run = play(stop.signal, CONTRACT.filter(isNewest));
      const ended = expect(run).rejects.toThrow("enough");
      const sandboxes = () => processesOf(parent).filter((command) => command.includes("agent.json"));
      await expect.poll(sandboxes, { timeout: LONGEST_MS / 2 }).not.toEqual([]);
      stop.abort(new Error("enough"));
      await ended;
      expect(readdirSync(parent)).toEqual([]);
      expect(processesOf(parent)).toEqual([]);
    },
    LONGEST_MS,
  );
});

const inUse = (moments: readonly MixSnapshot[]) => moments.slice(0, 3);
const ofMethod = (calls: readonly CallSeen[], method: CallSeen["method"]) =>
  calls.filter((call) => call.method === method);

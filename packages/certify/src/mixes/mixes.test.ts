import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { adapter } from "@slipway/cpi-local/certify/adapter";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { needs } from "@slipway/testkit/needs";
import { chosen, sampleOf, seed } from "@slipway/testkit/sample";
import { canUseSandboxes, Sandbox } from "@slipway/testkit/sandbox";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EIGHT_MIXES } from "../matrix/mixes.ts";
import { disagreements } from "./judge.ts";
import { mustBeBuilt, programsIn } from "./programs.ts";
import type { CallSeen, Moment, Row } from "./row.ts";
import { PAIRS, type Pair, runMixes } from "./run.ts";
import { tableText } from "./table.ts";
import { LIES } from "./testing/lies.ts";
import { titleOf } from "./testing/title.ts";
import { processesOf } from "./testing/traces.ts";

const packages = fileURLToPath(new URL("../../..", import.meta.url));
const programs = programsIn(packages, join(packages, "cpi-local/dist", adapter.executable));
const playable = needs("userns", await canUseSandboxes(), "sandboxes are processes with mounts of their own");
const LONGEST_MS = 1_200_000;

/** The new ones together always: theirs is the row without a registry. */
const NEW: Pair = { director: 2, cpi: 2 };
const others = PAIRS.filter(({ director, cpi }) => director === 1 || cpi === 1);
const played: readonly Pair[] = [NEW, ...(chosen("old mixes", 1 / 2) ? sampleOf("mixes", others, 1) : [])];
const mixes = EIGHT_MIXES.filter((mix) =>
  played.some(({ director, cpi }) => director === mix.director && cpi === mix.cpi),
);

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

const play = (signal: AbortSignal, pairs: readonly Pair[]) =>
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
    pairs,
  );

describe.runIf(playable)(
  `${mixes.length} of the eight mixes, played with real processes (seed ${seed()})`,
  () => {
    let rows: readonly Row[] = [];
    beforeAll(async () => {
      rows = await play(new AbortController().signal, played);
    }, LONGEST_MS);

    const row = (name: string): Row => {
      const found = rows.find((one) => titleOf(one) === name);
      if (found === undefined) throw new Error(`there is no row ${name}`);
      return found;
    };

    it.each(mixes.map(titleOf))("%s is as the contract says", (name) => {
      expect(row(name).problems).toEqual([]);
      expect(row(name).agrees).toBe(true);
    });

    it("have no registry where all three are new: not in user-data, not in the settings, not as a process", () => {
      const { calls, moments } = row("2/2/2");
      expect([...calls.map(({ after }) => after), ...moments.map(({ registry }) => registry)]).toEqual(
        Array(calls.length + moments.length).fill("not started"),
      );
      expect(inUse(moments).map(({ userData, settingsFrom }) => [userData, settingsFrom])).toEqual(
        Array(3).fill(["settings", "user-data"]),
      );
    });

    it("send the hint and write it into the registry where only the stemcell is old", () => {
      const { calls, moments, told } = row("2/2/1");
      for (const call of ofMethod(calls, "attach_disk"))
        expect(call.after).toMatchObject({ disks: { [call.disk ?? ""]: call.answer } });
      for (const { hints, disk, registry } of inUse(moments)) {
        expect(Object.keys(hints ?? {})).toEqual([disk]);
        expect(registry).toMatchObject({ disks: hints });
      }
      expect(told[0]?.messages.slice(0, 2)).toEqual(["add_persistent_disk", "mount_disk"]);
    });

    it("go by the registry alone where Director or CPI is old", () => {
      const old = rows.filter(({ director, cpi }) => director === 1 || cpi === 1);
      expect(old).toHaveLength(mixes.length - 2);
      for (const { calls, moments, told } of old) {
        expect(ofMethod(calls, "create_vm").map(({ answer }) => answer)).toEqual(["cid", "cid"]);
        expect(ofMethod(calls, "attach_disk").map(({ answer }) => answer)).toEqual([null, null, null]);
        for (const moment of inUse(moments))
          expect(moment).toMatchObject({ hints: {}, userData: "registry", settingsFrom: "registry" });
        expect(told.flatMap(({ messages }) => messages)).not.toContain("add_persistent_disk");
      }
    });

    it("keep what was written through a new VM and a new disk", () => {
      for (const { moments } of rows) {
        const [deployed, recreated, resized] = moments;
        expect(recreated).toMatchObject({ disk: deployed?.disk, data: "kept" });
        expect(recreated?.vm).not.toBe(deployed?.vm);
        expect(resized).toMatchObject({ vm: recreated?.vm, data: "kept" });
        expect(resized?.disk).not.toBe(recreated?.disk);
      }
    });

    it("leave no file and no process", () => {
      expect(readdirSync(parent)).toEqual([]);
      expect(processesOf(parent)).toEqual([]);
    });

    it.each(Object.entries(LIES))("would be found wrong if %s", (_, lie) => {
      expect(rows.filter((one) => disagreements(lie(one)).length === 0).map(titleOf)).toEqual([]);
    });

    it("read as a table that fits a wide terminal", () => {
      const lines = tableText(rows).split("\n");
      expect(lines).toHaveLength(1 + mixes.length);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(140);
      expect(lines.at(-1)).toMatch(
        /^v2 +v2 +v2 +\[cid, networks\] +full settings +not started +disk hint +hint, mount +user-data +2 times +ok$/,
      );
      const oldest = mixes[0];
      if (oldest?.director === 1 && oldest.cpi === 1)
        expect(lines[1]).toMatch(
          /^v1 +v1 +v1 +cid +registry URL +10 writes +nothing +mount +registry +2 times +ok$/,
        );
    });
  },
);

describe.runIf(playable && chosen("mixes stopped", 1 / 3))("a run that is stopped", () => {
  it(
    "ends everything it has started",
    async () => {
      const stop = new AbortController();
      const run = play(stop.signal, [NEW]);
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

const inUse = (moments: readonly Moment[]) => moments.slice(0, 3);
const ofMethod = (calls: readonly CallSeen[], method: CallSeen["method"]) =>
  calls.filter((call) => call.method === method);

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { bundled } from "@slipway/testkit/bundle";
import { tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { cleanRuns } from "./clean.ts";
import { deadRuns } from "./run-directory.ts";

const program = bundled("../testing/certify-program.ts", import.meta.url);
const tiny = bundled("../../../../examples/tiny-cpi/src/main.ts", import.meta.url);
const KINDS = ["vms", "disks", "stemcells"] as const;

describe("a run that is killed by SIGKILL", () => {
  let dir: string;
  const there = async () =>
    (await Promise.all(KINDS.map((kind) => readdir(join(dir, "cloud", kind)).catch(() => [])))).flat();

  it("leaves a journal from which everything it made is removed", async () => {
    dir = await tempDir();
    await mkdir(join(dir, "runs"));
    await writeFile(join(dir, "cpi.json"), JSON.stringify({ tiny: { dir: join(dir, "cloud") } }));
    const args = [program(), tiny(), join(dir, "cpi.json"), join(dir, "runs")];
    const child = spawn(process.execPath, args, { stdio: "inherit" });
    const journal = async () => {
      const [run = ""] = await readdir(join(dir, "runs"));
      return await readFile(join(dir, "runs", run, "journal.jsonl"), "utf8").catch(() => "");
    };
    // A VM is there, and a disk is being made.
    await expect
      .poll(journal, { timeout: 240_000, interval: 20 })
      .toMatch(/"made":\d+,"cid":"vm-[\s\S]*"method":"create_disk"/);
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;

    expect(await there()).not.toEqual([]);
    expect(await deadRuns(join(dir, "runs"))).toHaveLength(1);
    const [cleaned, ...more] = await cleanRuns(join(dir, "runs"), systemClock);
    expect(more).toEqual([]);
    expect(cleaned?.found).toBeGreaterThan(0);
    expect(cleaned?.left).toEqual([]);
    expect(await there()).toEqual([]);
    expect(await readdir(join(dir, "runs"))).toEqual([]);
  }, 300_000);
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeYaml } from "@slipway/engine/documents/yaml";
import { systemClock } from "@slipway/kernel/clock";
import { fractionsOf, rounds, seed } from "@slipway/testkit/sample";
import { plays } from "@slipway/testkit/stories";
import { describe, expect, it } from "vitest";
import { EnvLab, type ManifestChange } from "./testing/env-lab.ts";
import { type Built, builtPrograms } from "./testing/programs.ts";

const programs = builtPrograms();

/** Number of kills; SLIPWAY_KILLS=20 runs more. */
const KILLS = Number(process.env.SLIPWAY_KILLS ?? rounds({ sample: 1, all: 3 }));

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** The command as a process; killed after so long, if it is. */
async function slipway(built: Built, args: readonly string[], killAfterMs?: number): Promise<Ended> {
  const child = spawn(process.execPath, [built.slipway, ...args], {
    env: { ...process.env, TEST_AGENT: built.agent, TEST_REGISTRY: built.registry },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  const cancel =
    killAfterMs === undefined
      ? () => undefined
      : systemClock.after(killAfterMs, () => void child.kill("SIGKILL"));
  const [code] = (await once(child, "exit")) as [number | null];
  cancel();
  return { code, output };
}

async function write(lab: EnvLab, change: ManifestChange): Promise<void> {
  await writeFile(join(lab.dir, "lab.yml"), writeYaml(lab.manifest(change)));
}

const WAYS = [
  { story: "killed", way: "the CPI as an executable", stemcell: 3, exec: true },
  {
    story: "killed with a registry",
    way: "the CPI as an executable, with a registry",
    stemcell: 1,
    exec: true,
  },
  { story: "killed in the same process", way: "the CPI in the same process", stemcell: 3, exec: false },
] as const;

const ways = WAYS.filter(({ story }) => plays("environment", story));

describe.runIf(ways.length > 0)(
  `create-env, killed at any moment (seed ${seed()}, ${KILLS} kills each)`,
  () => {
    it.each(ways)(
      "$way: run again it completes, and nothing is left twice",
      { timeout: 300_000 * (KILLS + 2) },
      async ({ way, stemcell, exec }) => {
        const lab = await EnvLab.open(programs());
        await lab.stemcell("stemcell.tgz", { apiVersion: stemcell });
        const provider = exec ? await lab.executable() : lab.embedded();
        const manifest = join(lab.dir, "lab.yml");
        const next = fractionsOf(`create-env killed, ${way}`);
        const run = (killAfterMs?: number, ...flags: string[]) =>
          slipway(programs(), ["create-env", manifest, ...flags], killAfterMs);

        // How long a whole run takes here and now, from nothing.
        await write(lab, { provider });
        const began = systemClock.monotonic();
        expect(await run()).toMatchObject({ code: 0 });
        const whole = systemClock.monotonic() - began;
        await lab.write("note", "kept", lab.manifest({ provider }));

        for (let kill = 0; kill < KILLS; kill++) {
          // Another size every time: the disk is copied to a new one too.
          const change = { provider, disk: 64 + (kill % 2) * 32 };
          await write(lab, change);
          const flags = kill % 3 === 2 ? ["--recreate"] : [];
          const fresh = kill % 4 === 1;
          if (fresh) expect(await slipway(programs(), ["delete-env", manifest])).toMatchObject({ code: 0 });
          const at = Math.round(next() * whole * 1.6);
          const killed = await run(at, ...flags);
          const again = await run(undefined, ...flags);
          const about = `kill ${kill} after ${at} ms\n${killed.output}\n--- and again ---\n${again.output}`;
          expect(again.code, about).toBe(0);
          const state = await lab.document();
          expect(
            [await lab.vms(), await lab.disks(), await lab.stemcells()].map((list) => list.length),
            about,
          ).toEqual([1, 1, 1]);
          expect(await lab.vms(), about).toEqual([state.current_vm_cid]);
          expect(state.slipway.intents, about).toEqual([]);
          expect(state.slipway.strays, about).toEqual([]);
          expect(await lab.registries(), about).toHaveLength(stemcell === 1 ? 1 : 0);
          if (fresh) await lab.write("note", "kept", lab.manifest(change));
          expect(await lab.read("note", lab.manifest(change)), about).toBe("kept");
        }

        for (let kill = 0; kill < Math.max(1, KILLS / 3); kill++)
          await slipway(programs(), ["delete-env", manifest], Math.round(next() * whole));
        const deleted = await slipway(programs(), ["delete-env", manifest]);
        expect(deleted.code, deleted.output).toBe(0);
        expect([await lab.vms(), await lab.disks(), await lab.stemcells()]).toEqual([[], [], []]);
        expect(await lab.processes()).toEqual([]);
        expect(await lab.held()).toEqual([]);
        expect(lab.exists("lab-state.json")).toBe(false);
        expect(lab.exists("lab-state.slipway")).toBe(false);
      },
    );
  },
);

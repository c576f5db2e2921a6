import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { adapter } from "@slipway/cpi-docker/certify/adapter";
import { addressOf } from "@slipway/cpi-docker/engine/address";
import { Engine } from "@slipway/cpi-docker/engine/engine";
import { LABEL } from "@slipway/cpi-docker/labels";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { engineTrouble, HOST } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONTRACT } from "../matrix/contract.ts";
import { disagreements } from "./judge.ts";
import { mustBeBuilt, programsIn } from "./programs.ts";
import type { MixRow } from "./row.ts";
import { runMixes } from "./run.ts";
import { LIES } from "./testing/lies.ts";
import { titleOf } from "./testing/title.ts";
import { loopFiles, processesOf } from "./testing/traces.ts";

const trouble = await engineTrouble();
const playable = needs("docker", trouble === undefined, trouble);
const packages = fileURLToPath(new URL("../../..", import.meta.url));
const programs = programsIn(packages, join(packages, "cpi-docker/dist", adapter.executable));
const LONGEST_MS = 600_000;

interface Listed {
  readonly Id: string;
  readonly ImageID: string;
  readonly Names: readonly string[];
  readonly Labels: Readonly<Record<string, string>> | null;
}

/** Everything on the engine that has to do with mixes, by its names and labels. */
async function thingsOnEngine(): Promise<readonly unknown[]> {
  const engine = await Engine.open(addressOf({ host: HOST }));
  const list = async <T = readonly Listed[]>(path: string, query = {}) =>
    (await json((await engine.stream({ doing: "looking around", method: "GET", path, query })).body)) as T;
  const containers = await list("/containers/json", { all: "true" });
  const images = await list("/images/json");
  const { Volumes } = await list<{ Volumes: Listed[] | null }>("/volumes");
  const all = [
    // A suite beside this one may have made its disk helper of the newest image there was; labels of images are inherited.
    ...containers.map(({ Names, Labels }) => [Names, Labels?.[LABEL.deployment]]),
    ...images.filter(({ Id }) => containers.every(({ ImageID }) => ImageID !== Id)),
    ...(Volumes ?? []),
    ...(await list("/networks")),
  ];
  return all.filter((one) => /slipway-mixes-|"(mix|env)-\d{2,3}(-first)?"/.test(JSON.stringify(one)));
}

describe.runIf(playable)("the eight mixes, played on a Docker Engine", () => {
  let parent = "";
  let rows: readonly MixRow[] = [];
  beforeAll(async () => {
    mustBeBuilt(programs);
    parent = await passableDirectory("mixes-docker-test");
    rows = await play(new AbortController().signal);
  }, LONGEST_MS);
  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  const play = (signal: AbortSignal) =>
    runMixes({
      programs,
      openCloud: () =>
        adapter.open({
          agent: programs.agent,
          parent,
          random: systemRandom,
          options: { "docker-host": HOST },
        }),
      parent,
      clock: systemClock,
      random: systemRandom,
      signal,
    });

  const expectNothingLeft = async () => {
    expect(await thingsOnEngine()).toEqual([]);
    expect(readdirSync(parent)).toEqual([]);
    expect(processesOf(parent)).toEqual([]);
  };

  it.each(CONTRACT.map(titleOf))("%s is as the contract says", (name) => {
    const row = rows.find((one) => titleOf(one) === name);
    expect(row?.problems).toEqual([]);
    expect(row?.agrees).toBe(true);
  });

  it("tell where the disk is by its own name, in the answer or the registry", () => {
    const attached = rows.flatMap(({ calls }) => calls.filter(({ method }) => method === "attach_disk"));
    expect(attached).toHaveLength(9 * 3 + 4 * 4);
    for (const { disk, answer, after } of attached) {
      const hint = { path: `/dev/slipway-${disk}`, id: disk };
      if (answer !== null) expect(answer).toEqual(hint);
      if (after !== "not started") expect(after).toMatchObject({ disks: { [disk ?? ""]: hint } });
      expect(answer === null && after === "not started").toBe(false);
    }
  });

  it("would be found wrong if something had been otherwise", () => {
    const row = rows.find((one) => titleOf(one) === "2/2/1");
    if (row === undefined) throw new Error("there is no such row");
    const believed = Object.entries(LIES).filter(([, lie]) => disagreements(lie(row)).length === 0);
    expect(believed.map(([what]) => what)).toEqual([]);
  });

  it("leave nothing on the engine, no loop device, no file and no process", async () => {
    await expectNothingLeft();
    const disks = rows.flatMap(({ calls }) => calls.flatMap(({ disk }) => disk ?? []));
    expect(disks.length).toBeGreaterThan(0);
    expect(loopFiles().filter((file) => disks.some((disk) => file.includes(disk)))).toEqual([]);
  });

  it(
    "leave nothing either when they are stopped while there are VMs",
    async () => {
      const stop = new AbortController();
      const ended = expect(play(stop.signal)).rejects.toThrow("enough");
      const deployed = async () => JSON.stringify(await thingsOnEngine());
      await expect
        .poll(deployed, { timeout: LONGEST_MS / 2, interval: 100 })
        .toMatch(/"(mix|env)-\d{2,3}(-first)?"/);
      stop.abort(new Error("enough"));
      await ended;
      await expectNothingLeft();
    },
    LONGEST_MS,
  );
});

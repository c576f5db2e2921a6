import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NewTask } from "@slipway/director/tasks/task";
import { ConfigServerAway } from "@slipway/director/variables/errors";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import { releaseTarball } from "@slipway/testkit/release-tarball";
import { sampleOf, seed as seedOfRun } from "@slipway/testkit/sample";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deployTask, taskOf } from "../crash/scenarios/tasks.ts";
import { seededOrder } from "../crash/seeded.ts";
import { differences, endState } from "../world/end-state.ts";
import { CAUSE, FAULTS, onlyDead, strike } from "./faults.ts";
import { Bench } from "./testing/bench.ts";
import { shopRelease, web } from "./testing/jobs-stage.ts";
import { memoryConfigServer } from "./testing/memory-config-server.ts";
import { runAndCancel, WAYS } from "./testing/run-and-cancel.ts";
import { nameOf, type OutsideCall } from "./watch-clients.ts";

sampleTests(1 / 3);

/** `SLIPWAY_DRIVERS=all` takes every way at every call instead of one of them. */
const all = process.env.SLIPWAY_DRIVERS === "all";
const SAMPLE = 1;
const seed = seedOfRun();

const manifest = (password: string, reuse: boolean, options: object = {}): NewTask =>
  deployTask(
    {
      name: "shop",
      releases: [{ name: "shop", version: "1" }],
      groups: [
        { name: "web", instances: 1, jobs: [web({ port: 80, password })] },
        { name: "client", instances: 1, disk: "d1", jobs: [{ name: "client", release: "shop" }] },
      ],
      variables: true,
      reuse,
    },
    options,
  );
const DEPLOY = manifest("((kept))", true);

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  const path = join(bench.uploadsDir, "release.tgz");
  await writeFile(path, await releaseTarball(shopRelease()));
  const upload = taskOf("update_release", { path, fix: false, rebase: false });
  await bench.prepare({ cpi: { remembers: true }, before: [upload] });
});
afterAll(() => bench.close());

/** Nothing stray, no VM that compiled, no variable twice. */
async function left(): Promise<readonly string[]> {
  const { instances } = await bench.remembered();
  const variables = await bench.db.selectFrom("variables").select(["name", "request_id"]).execute();
  const made = variables.map((one) => `${one.name} by ${one.request_id}`);
  return [
    ...(await bench.broken()),
    ...instances.filter(({ compilation }) => compilation === true).map(({ group }) => `${group} is left`),
    ...made.filter((one, at) => made.indexOf(one) !== at).map((one) => `${one} was made twice`),
  ];
}

async function rehearse(): Promise<{ readonly calls: readonly OutsideCall[]; readonly end: object }> {
  await bench.rewind();
  const { state, message, calls } = await bench.run(DEPLOY, { seed: "rehearsal" });
  expect(`${state} ${message}`).toBe("done ");
  return { calls, end: endState(bench.world, await bench.remembered(), bench.kept) };
}

/** Wherever it was cut off, the next deploy ends where one without trouble does, and leaves nothing to do. */
async function goesOn(
  end: object,
  where: string,
  options: { readonly dead?: ReadonlySet<string> } = {},
): Promise<readonly string[]> {
  const dead = options.dead ?? new Set();
  const interference = onlyDead(dead);
  const next = manifest("((kept))", true, { fix: dead.size > 0 });
  const second = await bench.run(next, { interference, seed: `${where} 2` });
  const found = [
    ...(await left()),
    ...differences(endState(bench.world, await bench.remembered(), bench.kept), end),
  ];
  if (second.state !== "done") found.push(`the next deploy ended as ${second.state}: ${second.message}`);
  const third = await bench.run(DEPLOY, { interference, seed: `${where} 3` });
  return [...found, ...third.changing.map((one) => `${one} is asked though nothing changed`)];
}

const chosen = <T>(what: string, cases: readonly T[]) => (all ? cases : sampleOf(what, cases, SAMPLE));
const some = <T>(where: string, ways: readonly T[]): readonly T[] => {
  const [first = 0] = seededOrder(`${seed} ${where}`, ways.length);
  return all ? ways : ways.slice(first, first + 1);
};

describe(`a first deploy with jobs, compilation and variables (seed ${seed})`, () => {
  it("is cancelled at any call", { timeout: 3_600_000 }, async () => {
    const { calls, end } = await rehearse();
    const cases = calls.flatMap((call) => some(`cancel ${call.nth}`, WAYS).map((way) => ({ call, way })));
    const broken: string[] = [];
    for (const given of chosen("jobs cancelled", cases)) {
      const where = `${given.way} at ${given.call.nth} (${nameOf(given.call)})`;
      await bench.rewind();
      const first = await runAndCancel(bench, DEPLOY, given, `${seed} ${where} 1`);
      const found = await left();
      if (first.state !== "cancelled") broken.push(`${where}: ended as ${first.state}: ${first.message}`);
      broken.push(...[...found, ...(await goesOn(end, where))].map((one) => `${where}: ${one}`));
    }
    expect(broken).toEqual([]);
  });

  it("fails at any call", { timeout: 3_600_000 }, async () => {
    const { calls, end } = await rehearse();
    const cases = calls.flatMap((call) =>
      some(`fault ${call.nth}`, FAULTS[call.peer]).map((fault) => ({ call, fault })),
    );
    const broken: string[] = [];
    for (const { call, fault } of chosen("jobs failing", cases)) {
      const where = `${fault} at ${call.nth} (${nameOf(call)})`;
      await bench.rewind();
      const { interference, hit, dead } = strike(call.nth, fault);
      const first = await bench.run(DEPLOY, { interference, seed: `${seed} ${where} 1` });
      if (hit() === undefined) broken.push(`${where}: was never reached`);
      if (first.state !== "error") broken.push(`${where}: ended as ${first.state}`);
      for (const word of [new RegExp(CAUSE), /(web|client|compilation\S*)\/[0-9a-f-]{36}|package '\w+'/])
        if (!word.test(first.message)) broken.push(`${where}: does not say ${word}: ${first.message}`);
      broken.push(
        ...[...(await bench.broken()), ...(await goesOn(end, where, { dead }))].map(
          (one) => `${where}: ${one}`,
        ),
      );
    }
    expect(broken).toEqual([]);
  });
});

describe("a config server that goes away", () => {
  it("leaves nothing behind at any of its requests, and no variable is made twice", async () => {
    await bench.rewind();
    const good = memoryConfigServer();
    const { state } = await bench.run(DEPLOY, { seed: "good", configServer: good });
    expect([state, good.versions.length]).toEqual(["done", 2]);
    for (let until = 0; ; until++) {
      await bench.rewind();
      const server = memoryConfigServer();
      let asked = 0;
      const first = await bench.run(DEPLOY, {
        seed: `away after ${until}`,
        configServer: cutOff(server, () => asked++ >= until),
      });
      if (asked <= until) {
        expect([first.state, until > 2]).toEqual(["done", true]);
        break;
      }
      expect([first.state, await left()]).toEqual(["error", []]);
      expect(first.message).toContain("the config server https://there cannot be asked: gone");
      const second = await bench.run(DEPLOY, { seed: `back after ${until}`, configServer: server });
      expect(`${second.state} ${second.message}`).toBe("done ");
      const kept = server.versions.filter(({ name }) => name.endsWith("/kept"));
      expect([kept.length, await left()]).toEqual([1, []]);
    }
  });
});

/** Answers nothing once it is away. */
function cutOff(server: ConfigServer, isAway: () => boolean): ConfigServer {
  const away = () => ConfigServerAway({ doing: "fetching", url: "https://there", why: "gone" });
  return {
    newest: async (...args) => {
      if (isAway()) throw away();
      return await server.newest(...args);
    },
    byId: async (...args) => {
      if (isAway()) throw away();
      return await server.byId(...args);
    },
    generate: async (...args) => {
      if (isAway()) throw away();
      return await server.generate(...args);
    },
  };
}

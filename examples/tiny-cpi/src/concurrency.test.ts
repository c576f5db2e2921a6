import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { bundled } from "@slipway/testkit/bundle";
import { replyOf } from "@slipway/testkit/executable";
import { resultOf, vmArgs } from "@slipway/testkit/requests";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { until } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { newDisk, newVm, type TinyCloud, tinyCloud } from "./testing/tiny-cloud.ts";

sampleTests(1 / 3);

const script = bundled("main.ts", import.meta.url);
const NEW = { version: 2, stemcell: 2 };
/** Two cores serve this many well; the rest waits its turn. */
const AT_ONCE = 8;

const count = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

async function inTurns<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  const queue = works.entries();
  const worker = async () => {
    for (const [at, work] of queue) results[at] = await work();
  };
  await Promise.all(count(AT_ONCE, worker));
  return results;
}

const vmCid = (made: unknown) => (made as [string])[0];
const locksIn = async (cloud: TinyCloud) =>
  (await readdir(join(cloud.dir, "sdk", "requests"))).filter((name) => name.includes(".lock"));

describe("many processes on one state directory", () => {
  it("lose nothing: thirty creates are thirty things", async () => {
    const cloud = await tinyCloud(script(), NEW);
    const stemcell = await cloud.result("create_stemcell", cloud.image, {});
    const disks = count(
      15,
      (i) => async () => resultOf(await cloud.call("create_disk", [1, {}, null], { requestId: `cpi-${i}` })),
    );
    const vms = count(
      15,
      (i) => async () =>
        vmCid(resultOf(await cloud.call("create_vm", vmArgs().with(1, stemcell), { requestId: `cpi-${i}` }))),
    );
    const made = await inTurns([...disks, ...vms]);
    expect(new Set(made).size).toBe(30);
    expect([...(await cloud.list("disks")), ...(await cloud.list("vms"))].sort()).toEqual([...made].sort());
    expect(await locksIn(cloud)).toEqual([]);
  });

  it("with the same request at once make one thing", async () => {
    const cloud = await tinyCloud(script(), { ...NEW, requestId: "cpi-1" });
    const made = await Promise.all(count(6, () => newDisk(cloud)));
    expect(new Set(made).size).toBe(1);
    expect(await cloud.list("disks")).toEqual([made[0]]);
  });

  it("some of them killed hold up no others, and the repeats make good", async () => {
    const cloud = await tinyCloud(script(), NEW);
    const stemcell = await cloud.result("create_stemcell", cloud.image, {});
    const ask = (i: number) => [vmArgs().with(1, stemcell), { requestId: `cpi-${i}` }] as const;
    const started = count(AT_ONCE, (i) => cloud.start("create_vm", ...ask(i)));
    // Wherever the even ones are by the time the first of all is at work, they die there.
    await until(
      "a request to begin",
      async () => (await readdir(join(cloud.dir, "sdk", "requests")).catch(() => []))[0],
    );
    for (const [i, { child }] of started.entries()) if (i % 2 === 0) child.kill("SIGKILL");
    const ends = await Promise.all(started.map(({ ended }) => ended));
    for (const [i, end] of ends.entries()) if (i % 2 === 1) resultOf(replyOf(end));

    const made = await inTurns(
      count(AT_ONCE, (i) => async () => vmCid(resultOf(await cloud.call("create_vm", ...ask(i))))),
    );
    expect(new Set(made).size).toBe(AT_ONCE);
    expect(await cloud.list("vms")).toEqual([...made].sort());
    expect(await locksIn(cloud)).toEqual([]);
  });

  it("attaching to one VM all find their disk in its registry entry", async () => {
    const cloud = await tinyCloud(script(), { version: 1, stemcell: 1 });
    const vm = await newVm(cloud);
    const disks = await inTurns(count(6, () => () => newDisk(cloud, 1)));
    await inTurns(disks.map((disk) => () => cloud.result("attach_disk", vm, disk)));
    expect(Object.keys((await cloud.registry.entry(vm))?.disks.persistent ?? {}).sort()).toEqual(
      [...disks].sort(),
    );
  });
});

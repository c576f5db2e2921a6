import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { bundled } from "@slipway/testkit/bundle";
import { startCpi } from "@slipway/testkit/executable";
import { holdMachine } from "@slipway/testkit/hold-machine";
import { LocalCloud, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { fractionsOf, rounds, seed } from "@slipway/testkit/sample";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const trouble = await sandboxTrouble();
const program = bundled("./main.ts", import.meta.url);

const ROUNDS = rounds({ sample: 1, all: 4 });

describe.runIf(needs("userns", trouble === undefined, trouble))("a CPI that is killed at any moment", () => {
  let cloud: LocalCloud;
  let configFile: string;
  beforeAll(async () => {
    cloud = await LocalCloud.open();
    configFile = join(cloud.dir, "cpi.json");
    await writeFile(configFile, JSON.stringify({ cloud: { properties: { local: cloud.config } } }));
  });
  afterAll(() => cloud.close());

  const call = (method: string, args: readonly unknown[], id: string) =>
    startCpi(program(), JSON.stringify(cloud.request(method, args, id)), {
      args: ["--configFile", configFile],
    });

  /** How long a whole call takes on this machine, so that the moments are spread over all of it. */
  const took = new Map<string, number>();

  async function killed(
    method: string,
    args: readonly unknown[],
    id: string,
    fraction: number,
  ): Promise<void> {
    const release = await holdMachine();
    const { child, ended } = call(method, args, id);
    const cancel = systemClock.after(fraction * (took.get(method) ?? 400), () => child.kill("SIGKILL"));
    await ended;
    cancel();
    await release();
  }

  async function whole(method: string, args: readonly unknown[], id: string): Promise<unknown> {
    const release = await holdMachine();
    const since = systemClock.monotonic();
    const { stdout } = await call(method, args, id).ended;
    took.set(method, systemClock.monotonic() - since);
    await release();
    const { result, error } = JSON.parse(stdout) as {
      result: unknown;
      error: { type: string; message: string } | null;
    };
    // What the killed call had finished.
    if (error !== null && !/NotFound|NotAttached/.test(error.type))
      throw new Error(`${method}: ${error.message}`);
    return result;
  }

  it(`leaves nothing that the next call does not find or clean up (seed ${seed()})`, async () => {
    const next = fractionsOf("local crash");
    const stemcell = await cloud.newStemcell();
    /** Killed once, or twice, or not, and then repeated to its end. */
    const roughly = async (method: string, args: readonly unknown[], id: string): Promise<unknown> => {
      for (let times = Math.floor(next() * 3); times > 0; times--) await killed(method, args, id, next());
      return await whole(method, args, id);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const id = (what: string) => `${what}-${round}-${seed()}-of-the-crash-test`;
      const args = cloud.vmArguments(stemcell);
      const [vm] = (await roughly("create_vm", args, id("vm"))) as [string];
      const disk = (await roughly("create_disk", [16, {}, null], id("disk"))) as string;
      await roughly("attach_disk", [vm, disk], id("attach"));
      await cloud.insideMust(vm, `echo ${round} > /var/vcap/disks/${disk}/file`);
      await roughly("reboot_vm", [vm], id("reboot"));
      expect(await cloud.insideMust(vm, `cat /var/vcap/disks/${disk}/file`)).toBe(`${round}\n`);
      if (next() < 0.7) await roughly("detach_disk", [vm, disk], id("detach"));
      await roughly("delete_vm", [vm], id("delete"));
      // The same disk, elsewhere, with its data.
      const [other] = (await roughly("create_vm", cloud.vmArguments(stemcell), id("other"))) as [string];
      await roughly("attach_disk", [other, disk], id("again"));
      expect(await cloud.insideMust(other, `cat /var/vcap/disks/${disk}/file`)).toBe(`${round}\n`);
      await roughly("delete_vm", [other], id("delete-other"));
      await roughly("delete_disk", [disk], id("delete-disk"));
      expect(await cloud.traces()).toEqual([]);
      for (const room of ["vms", "disks"]) expect(readdirSync(join(cloud.dir, room)), room).toEqual([]);
    }
  });

  it("a crash while a VM is made leaves nothing after delete_vm, even if create_vm is not repeated", async () => {
    const next = fractionsOf("local crash of create_vm");
    const stemcell = await cloud.newStemcell();
    for (let round = 0; round < ROUNDS; round++) {
      const id = `lost-${round}-${seed()}-of-the-crash-test`;
      await killed("create_vm", cloud.vmArguments(stemcell), id, next());
      const vms = readdirSync(join(cloud.dir, "vms"));
      for (const vm of vms) await whole("delete_vm", [vm.replace(/\..*/, "")], `${id}-delete`);
      // An init that had not said who it is finds no place to do so.
      await expect.poll(() => cloud.traces()).toEqual([]);
      expect(readdirSync(join(cloud.dir, "vms"))).toEqual([]);
    }
  });
});

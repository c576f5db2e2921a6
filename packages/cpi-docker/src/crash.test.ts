import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { bundled } from "@slipway/testkit/bundle";
import {
  DockerCloud,
  DockerVm,
  engineTrouble,
  HOST,
  manual,
  nextAddress,
} from "@slipway/testkit/docker-cloud";
import { replyOf, startCpi, writeConfig } from "@slipway/testkit/executable";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarOf } from "./engine/archive.ts";
import { LABEL } from "./labels.ts";
import { EngineProxy, type FaultMoment } from "./testing/engine-proxy.ts";
import { listContainers } from "./vms/containers.ts";

const trouble = HOST.startsWith("unix://") ? await engineTrouble() : "the engine is not behind a socket";
const program = bundled("main.ts", new URL("./", import.meta.url).href);

/** More than any method makes. */
const MOST_REQUESTS = 40;

describe.runIf(needs("docker", trouble === undefined, trouble))(
  "kill -9 of the CPI at every request to the engine",
  () => {
    let cloud: DockerCloud;
    let proxy: EngineProxy;
    let stemcell: string;
    let vm: DockerVm;
    let args: string[];

    beforeAll(async () => {
      cloud = await DockerCloud.open();
      stemcell = await cloud.newStemcell();
      vm = await (await cloud.newVm(stemcell)).pong();
      await cloud.result("delete_disk", [await cloud.newDisk()]);
      proxy = await EngineProxy.open(join(cloud.dir, "engine.sock"), HOST.replace("unix://", ""));
      const docker = { ...cloud.config, host: `unix://${proxy.path}` };
      const agent = { mbus: "https://mbus:s3cret@0.0.0.0:6868" };
      args = ["--configFile", await writeConfig(cloud.dir, { docker, agent })];
    });
    afterAll(async () => {
      await proxy.close();
      await cloud.close();
    });

    const run = (method: string, given: readonly unknown[], id: string) =>
      startCpi(program(), JSON.stringify(cloud.request(method, given, id)), { args });

    /** Runs it, killed at a request; whether it was killed at all, and what a repeat says. */
    async function killed(method: string, given: readonly unknown[], at: number, moment: FaultMoment) {
      const id = `request-${method}-${at}-${moment}-${cloud.director}`;
      const { child, ended } = run(method, given, id);
      proxy.trap(at, moment, () => child.kill("SIGKILL"));
      const { signal } = await ended;
      proxy.trap(0, "before", () => undefined);
      const reply: CpiResponse = replyOf(await run(method, given, id).ended);
      return { wasKilled: signal === "SIGKILL", reply, id };
    }

    /** Every point at which it can die. */
    async function everywhere(round: (at: number, moment: FaultMoment) => Promise<boolean>): Promise<void> {
      for (const moment of ["before", "after"] as const) {
        for (let at = 1; at < MOST_REQUESTS; at++) {
          if (await round(at, moment)) continue;
          expect(at).toBeGreaterThan(1);
          break;
        }
      }
    }

    it("create_vm: the repeat makes exactly one, which works", async () => {
      await everywhere(async (at, moment) => {
        const ip = nextAddress();
        const given = cloud.vmArguments(stemcell, { private: manual(ip) });
        const { wasKilled, reply, id } = await killed("create_vm", given, at, moment);
        expect(reply.error).toBeNull();
        const [cid] = reply.result as [string];
        const all = await listContainers(await cloud.cloud(), { [LABEL.request]: id });
        expect(all.map((one) => one.cid)).toEqual([cid]);
        await new DockerVm(cloud, cid, ip).pong();
        await cloud.result("delete_vm", [cid]);
        return wasKilled;
      });
    });

    it("create_disk: the repeat makes exactly one", async () => {
      await everywhere(async (at, moment) => {
        const { wasKilled, reply } = await killed("create_disk", [8, {}, null], at, moment);
        expect(reply.error).toBeNull();
        await cloud.result("delete_disk", [reply.result]);
        return wasKilled;
      });
      expect(await cloud.loops()).toEqual([]);
    });

    it("attach_disk and detach_disk: the repeat finishes it, and no loop device is left", async () => {
      const disk = await cloud.newDisk();
      await everywhere(async (at, moment) => {
        const attached = await killed("attach_disk", [vm.cid, disk], at, moment);
        expect(attached.reply.result).toEqual({ path: `/dev/slipway-${disk}`, id: disk });
        expect(await cloud.loops()).toEqual([disk]);
        await vm.must(`dd if=/dev/slipway-${disk} of=/dev/null bs=4k count=1`);
        const detached = await killed("detach_disk", [vm.cid, disk], at, moment);
        // Done by the one that was killed, or by the repeat.
        expect(detached.reply.error?.type ?? "Bosh::Clouds::DiskNotAttached").toBe(
          "Bosh::Clouds::DiskNotAttached",
        );
        expect(await cloud.loops()).toEqual([]);
        return attached.wasKilled || detached.wasKilled;
      });
      await cloud.result("delete_disk", [disk]);
    });

    it("delete_vm with a disk: the repeat finishes it, and the disk is free", async () => {
      const disk = await cloud.newDisk();
      await everywhere(async (at, moment) => {
        const doomed = await (await cloud.newVm(stemcell)).pong();
        await cloud.mounted(doomed, disk);
        const { wasKilled, reply } = await killed("delete_vm", [doomed.cid], at, moment);
        expect(reply.error?.type ?? "Bosh::Clouds::VMNotFound").toBe("Bosh::Clouds::VMNotFound");
        expect(await cloud.result("has_vm", [doomed.cid])).toBe(false);
        expect(await cloud.loops()).toEqual([]);
        await cloud.result("attach_disk", [vm.cid, disk]);
        await cloud.result("detach_disk", [vm.cid, disk]);
        return wasKilled;
      });
      await cloud.result("delete_disk", [disk]);
    });

    it("create_stemcell: the repeat makes exactly one", async () => {
      const image = join(cloud.dir, "small.tar");
      await writeFile(image, await tarOf([{ name: "etc/small", content: "x".repeat(1 << 20), mode: 0o644 }]));
      await everywhere(async (at, moment) => {
        const { wasKilled, reply } = await killed("create_stemcell", [image, {}], at, moment);
        expect(reply.error).toBeNull();
        await cloud.result("delete_stemcell", [reply.result]);
        return wasKilled;
      });
    });
  },
);

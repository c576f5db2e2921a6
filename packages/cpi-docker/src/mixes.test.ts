import { join } from "node:path";
import { needs } from "@slipway/agent/testing/needs";
import { embed } from "@slipway/cpi-sdk/embed";
import { registryClient } from "@slipway/registry/client";
import { startRegistry } from "@slipway/registry/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cpiDocker } from "./cpi-docker.ts";
import { DockerCloud, engineTrouble, manual, Vm } from "./testing/docker-cloud.ts";

const trouble = await engineTrouble();

/** In both, agents in real containers find their settings and their disk, where this mix of versions has them. */
describe.runIf(needs("docker", trouble === undefined, trouble))("the mixes of versions on Docker", () => {
  const range = `10.216.${process.pid % 250}`;
  let cloud: DockerCloud;
  let stemcell: string;
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  let network: object;
  const seen: string[] = [];
  const user = { username: "registry", password: "p@ss/word" };

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    stemcell = await cloud.newStemcell();
    const definition = { type: "manual", range: `${range}.0/24`, gateway: `${range}.1` };
    [, , network] = await cloud.result<[string, object, object]>("create_network", [definition]);
    // Where containers reach the host.
    registry = await startRegistry({
      dir: join(cloud.dir, "registry"),
      host: `${range}.1`,
      port: 0,
      users: [user],
      onRequest: ({ method, id }) => seen.push(`${method} ${id}`),
    });
  });
  afterAll(async () => {
    await registry.close();
    await cloud.close();
  });

  const cpi = (reported: number) =>
    embed(cpiDocker, {
      config: {
        docker: cloud.config,
        agent: { mbus: "https://mbus:s3cret@0.0.0.0:6868" },
        registry: { endpoint: registry.url, user: user.username, password: user.password },
        debug: { cpi: { api_version: reported } },
      },
    });

  const rows = [1, 2].flatMap((director) =>
    [1, 2].flatMap((own) => [1, 2].map((sc) => [director, own, sc] as const)),
  );

  it.each(rows)("Director %i, CPI %i, stemcell %i", async (director, own, sc) => {
    const version = Math.min(director, own);
    const registryless = version >= 2 && sc >= 2;
    const ip = `${range}.${20 + director * 4 + own * 2 + sc}`;
    const ask = async (method: string, args: readonly unknown[]) => {
      const request = cloud.request(method, args);
      const context = { ...request.context, vm: { stemcell: { api_version: sc } } };
      const reply = await cpi(own).request({ ...request, context, api_version: version });
      expect(reply.error).toBeNull();
      return reply.result;
    };
    seen.length = 0;
    const given = cloud.vmArguments(stemcell, { private: manual(ip, { cloud_properties: network }) });
    const made = await ask("create_vm", given);
    const cid = (version >= 2 ? (made as string[])[0] : made) as string;
    const vm = await new Vm(cloud, cid, ip).pong();
    const disk = (await ask("create_disk", [16, {}, cid])) as string;
    const hint = await ask("attach_disk", [cid, disk]);
    const client = registryClient({ endpoint: registry.url, ...user });
    if (registryless) {
      await vm.value("add_persistent_disk", disk, hint);
      expect(seen).toEqual([]);
    } else {
      const entry = JSON.parse((await client.get(cid)) ?? "{}") as { disks: { persistent: object } };
      expect(entry.disks.persistent).toEqual({ [disk]: { path: `/dev/slipway-${disk}`, id: disk } });
      expect(seen).toContain(`GET ${cid}`);
    }
    await vm.value("mount_disk", disk);
    expect(await vm.value("list_disk")).toEqual([disk]);
    await vm.value("unmount_disk", disk);
    await ask("detach_disk", [cid, disk]);
    await ask("delete_vm", [cid]);
    await ask("delete_disk", [disk]);
    if (!registryless) expect(await client.get(cid)).toBeUndefined();
  });
});

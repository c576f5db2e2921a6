import { makeAgents } from "@slipway/engine/agents/agents";
import { agentSecret } from "@slipway/engine/agents/credentials";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId, DiskCid } from "@slipway/protocol/ids";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { LocalCloud, nextAddress, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const trouble = await sandboxTrouble();
const bundle = agentBundle();

describe.runIf(needs("userns", trouble === undefined, trouble))("the real agent in a sandbox", () => {
  let cloud: LocalCloud;
  let keys: Awaited<ReturnType<typeof temporaryDirectory>>;
  let agents: ReturnType<typeof makeAgents>;

  beforeAll(async () => {
    cloud = await LocalCloud.open({ agent: bundle() });
    keys = await temporaryDirectory();
    const authority = await openAuthority({ dir: keys.path, clock: systemClock, random: systemRandom });
    agents = makeAgents({
      authority,
      secret: agentSecret("5e".repeat(32)),
      port: 6868,
      clock: systemClock,
      random: systemRandom,
      directorUuid: systemRandom.uuid(),
      warn: () => {},
    });
  });
  afterAll(async () => {
    await agents.close();
    await cloud.close();
    await keys.remove();
  });

  async function booted() {
    const agentId = systemRandom.uuid() as AgentId;
    const ip = nextAddress();
    const { envBosh } = await agents.introduce({ agentId, ips: [ip] });
    const [, stemcell, properties, networks, disks] = cloud.vmArguments(await cloud.newStemcell(), ip);
    const [vm, given] = await cloud.result<[string, Parameters<typeof agents.urlFor>[0]]>("create_vm", [
      agentId,
      stemcell,
      properties,
      networks,
      disks,
      { bosh: envBosh },
    ]);
    const agent = agents.agent({ agentId, agentUrl: agents.urlFor(given) ?? "" });
    await agent.waitUntilReady({ withinMs: 240_000 });
    return { vm, agent };
  }

  it("answers over HTTPS, mounts the disk it is given, and finds it again after a reboot", async () => {
    const { vm, agent } = await booted();
    const disk = await cloud.newDisk(64);
    const hint = await cloud.result<{ path: string; mounted: string }>("attach_disk", [vm, disk]);
    await agent.addPersistentDisk(disk, hint);
    await agent.mountDisk(disk);
    expect(await agent.listDisk()).toEqual([disk]);
    await cloud.insideMust(vm, "echo data > /var/vcap/store/file");
    await cloud.result("reboot_vm", [vm]);
    await agent.waitUntilReady({ withinMs: 240_000 });
    expect(await agent.listDisk()).toEqual([disk]);
    expect(await cloud.insideMust(vm, "cat /var/vcap/store/file")).toBe("data\n");
    expect(await cloud.refusal("detach_disk", [vm, disk])).toContain("/var/vcap/store");
    await agent.unmountDisk(disk);
    await agent.removePersistentDisk(disk);
    await cloud.result("detach_disk", [vm, disk]);
    await cloud.result("delete_vm", [vm]);
    await cloud.result("delete_disk", [disk]);
    expect(await cloud.traces()).toEqual([]);
  });

  it("links disks by their names, leaves what is on them alone, and links them again after a reboot", async () => {
    const { vm, agent } = await booted();
    const link = (name: string) => `/var/vcap/instance/disks/${name}`;
    const named = await Promise.all(
      ["data", "wal"].map(async (name) => ({ name, cid: (await cloud.newDisk(64)) as DiskCid })),
    );
    for (const { cid } of named)
      await agent.addPersistentDisk(cid, await cloud.result<{ path: string }>("attach_disk", [vm, cid]));
    await agent.updateSettings({ trusted_certs: "", disk_associations: named });
    expect(await agent.listDisk()).toEqual([]);
    expect((await cloud.insideMust(vm, `ls ${link("")}`)).split("\n")).toEqual(["data", "wal", ""]);
    const [data, wal] = await Promise.all(
      named.map(({ name }) => cloud.insideMust(vm, `readlink ${link(name)}`)),
    );
    expect(data).not.toBe(wal);
    expect(await cloud.insideMust(vm, "mount | grep -c /var/vcap/store || true")).toBe("0\n");
    await cloud.result("reboot_vm", [vm]);
    await agent.waitUntilReady({ withinMs: 240_000 });
    for (const { name } of named) await cloud.insideMust(vm, `test -e ${link(name)}`);
    // One goes: the other stays.
    const [gone, kept] = named;
    await agent.updateSettings({ trusted_certs: "", disk_associations: named.slice(1) });
    expect(await cloud.insideMust(vm, `ls ${link("")}`)).toBe("wal\n");
    await agent.removePersistentDisk(gone?.cid ?? "");
    await cloud.result("detach_disk", [vm, gone?.cid]);
    await cloud.insideMust(vm, `test -e ${link("wal")}`);
    await agent.updateSettings({ trusted_certs: "", disk_associations: [] });
    await agent.removePersistentDisk(kept?.cid ?? "");
    await cloud.result("detach_disk", [vm, kept?.cid]);
    await cloud.result("delete_vm", [vm]);
    for (const { cid } of named) await cloud.result("delete_disk", [cid]);
    expect(await cloud.traces()).toEqual([]);
  });
});

import { makeAgents } from "@slipway/engine/agents/agents";
import { agentSecret } from "@slipway/engine/agents/credentials";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
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

  it("answers over HTTPS, mounts the disk it is given, and finds it again after a reboot", async () => {
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
});

import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { DockerCloud, DockerVm, engineTrouble, manual, nextAddress } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { LABEL } from "./labels.ts";
import { upstreamStemcell, WARDEN_AGENT_JSON } from "./testing/upstream-stemcell.ts";
import { listContainers } from "./vms/containers.ts";

const trouble = await engineTrouble();
/** A table of partitions of the old kind. */
const PARTITION = String.raw`printf '\125\252' | dd of=DISK bs=1 seek=510 conv=notrunc,fsync
printf '\200\0\0\0\203\0\0\0\1\0\0\0\377\0\0\0' | dd of=DISK bs=1 seek=446 conv=notrunc,fsync`;
const SOON = { timeout: 240_000, interval: 100 };

describe.runIf(needs("docker", trouble === undefined, trouble))("a VM of a stemcell of upstream's", () => {
  let cloud: DockerCloud;
  let stemcell: string;
  let vm: DockerVm;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    stemcell = await cloud.newStemcell(await upstreamStemcell(join(cloud.dir, "warden.tgz")));
    vm = await up(await cloud.newVm(stemcell));
  });
  afterAll(() => cloud.close());

  const starts = async (one: DockerVm) => (await one.run("cat /var/vcap/bosh/starts")).stdout.length;
  /** Its agent has done all it does when it starts. */
  async function up(one: DockerVm, times = 1): Promise<DockerVm> {
    await vi.waitFor(async () => expect(await starts(one)).toBe(times), SOON);
    return one;
  }
  const mounted = async (one: DockerVm, disk: string) => {
    const { path } = await cloud.result<{ path: string }>("attach_disk", [one.cid, disk]);
    await one.must(`/var/vcap/bosh/bin/bosh-agent mount ${disk} ${path}`);
  };
  const newVm = async (networks: object, image = stemcell, properties = {}) => {
    const [cid] = await cloud.result<[string]>("create_vm", cloud.vmArguments(image, networks, properties));
    return new DockerVm(cloud, cid, "");
  };
  const refused = async (texts: Record<string, string | undefined>) => {
    const other = await cloud.newStemcell(await upstreamStemcell(join(cloud.dir, "other.tgz"), { texts }));
    return await cloud.refusal("create_vm", cloud.vmArguments(other, { n: manual(nextAddress()) }));
  };

  it("runs the stemcell's own init and agent, which find their settings, and nothing of the engine's environment", async () => {
    const settings = JSON.parse(await vm.must("cat /var/vcap/bosh/settings.json")) as object;
    expect(settings).toMatchObject({
      agent_id: expect.stringMatching(/^agent-/),
      vm: { name: vm.cid },
      networks: { private: { ip: vm.ip, preconfigured: true } },
    });
    expect(await vm.must("cat /var/vcap/bosh/environment")).not.toMatch(/^HOSTNAME=/m);
    expect(await vm.must("tr '\\0' ' ' </proc/1/cmdline; ps -ef")).toContain("/usr/sbin/runsvdir-start");
    expect(((await vm.look()) as { HostConfig: object }).HostConfig).toMatchObject({ Privileged: false });
  });

  it("has files of its own in /etc, which its agent can put others in the place of, after every start", async () => {
    const files = "cd /etc && cat resolv.conf hosts hostname";
    const written = "resolv.conf of the agent\nhosts of the agent\nhostname of the agent";
    expect(await vm.must(files)).toBe(written);
    expect(await vm.must("grep -c ' /etc/' /proc/self/mountinfo || true")).toBe("0");
    const before = await starts(vm);
    await cloud.result("reboot_vm", [vm.cid]);
    await up(vm, before + 1);
    expect(await vm.must(files)).toBe(written);
  });

  it("is described while it runs, and not by the engine, which would bind its files again meanwhile", async () => {
    const { engine } = await cloud.cloud();
    const byEngine = async () => {
      const filters = JSON.stringify({ container: [vm.cid], event: ["extract-to-dir"] });
      const until = String(systemClock.now() / 1000);
      const query = { since: "0", until, filters };
      const reply = await engine.stream({ doing: "looking", method: "GET", path: "/events", query });
      return (await reply.text()).split("extract-to-dir").length;
    };
    const before = await byEngine();
    expect(before).toBeGreaterThan(1);
    await cloud.result("set_vm_metadata", [vm.cid, { name: "db/0", odd: `ü"'$(x)` }]);
    await cloud.result("reboot_vm", [vm.cid]);
    expect(await byEngine()).toBeLessThanOrEqual(before);
    expect(JSON.parse(await vm.must("cat /var/lib/slipway/metadata.json"))).toEqual({
      name: "db/0",
      odd: `ü"'$(x)`,
    });
  });

  it("asks the name servers of its networks, or the engine's if its networks have none", async () => {
    const found = (one: DockerVm) => one.must("cat /var/vcap/bosh/resolv.conf.found");
    const named = await up(await newVm({ n: manual(nextAddress(), { dns: ["192.0.2.7", "192.0.2.8"] }) }));
    expect(await found(named)).toBe("nameserver 192.0.2.7\nnameserver 192.0.2.8");
    const other = await up(await newVm({ n: manual(nextAddress()) }));
    expect(await found(other)).toMatch(/^nameserver (?!192\.0\.2)/m);
    await cloud.result("delete_vm", [named.cid]);
    await cloud.result("delete_vm", [other.cid]);
  });

  it("has its way out by the default network, of several", async () => {
    const [one, two] = [nextAddress(253), nextAddress(254)];
    const networks = { a: manual(one, { default: ["dns"] }), b: manual(two, { default: ["gateway"] }) };
    const several = await up(await newVm(networks));
    expect(await several.must("ip route show default")).toContain(`via ${two.replace(/\d+$/, "1")}`);
    await cloud.result("delete_vm", [several.cid]);
  });

  it("mounts a disk that was never used, keeps it over a restart, and gives it to one of ours and back", async () => {
    const disk = await cloud.newDisk();
    await mounted(vm, disk);
    await vm.must("echo kept >/var/vcap/store/file && sync");
    expect(await cloud.refusal("detach_disk", [vm.cid, disk])).toMatch(/DOC-015.*mounted/);
    const before = await starts(vm);
    await cloud.result("reboot_vm", [vm.cid]);
    await up(vm, before + 1);
    expect(await vm.must("cat /var/vcap/store/file")).toBe("kept");
    await vm.must("umount /var/vcap/store");
    await cloud.result("detach_disk", [vm.cid, disk]);
    expect(await vm.must("ls /dev | grep -c slipway || true")).toBe("0");
    const ours = await (await cloud.newVm(await cloud.newStemcell())).pong();
    await cloud.mounted(ours, disk);
    expect(await ours.must("cat /var/vcap/store/file")).toBe("kept");
    await cloud.unmounted(ours, disk);
    await mounted(vm, disk);
    expect(await vm.must("cat /var/vcap/store/file")).toBe("kept");
    await vm.must("umount /var/vcap/store");
    await cloud.result("detach_disk", [vm.cid, disk]);
    await cloud.result("delete_disk", [disk]);
  });

  it("sees a disk that has grown while it was detached, and starts without one that is gone", async () => {
    const disk = await cloud.newDisk(32);
    await mounted(vm, disk);
    await vm.must("echo kept >/var/vcap/store/file; umount /var/vcap/store");
    await cloud.result("detach_disk", [vm.cid, disk]);
    await cloud.result("resize_disk", [disk, 96]);
    const before = await starts(vm);
    await cloud.result("reboot_vm", [vm.cid]);
    await up(vm, before + 1);
    await mounted(vm, disk);
    expect(Number(await vm.must("df -Pm /var/vcap/store | awk 'NR == 2 { print $2 }'"))).toBeGreaterThan(64);
    expect(await vm.must("cat /var/vcap/store/file")).toBe("kept");
    await vm.must("umount /var/vcap/store");
    await cloud.result("detach_disk", [vm.cid, disk]);
    await cloud.result("delete_disk", [disk]);
  });

  it.each([
    ["partitions", PARTITION, "has partitions"],
    [
      "something that nobody knows",
      "printf secret | dd of=DISK bs=1 seek=9000 conv=notrunc,fsync",
      "is not empty",
    ],
  ])("never formats a disk with %s on it", async (_, write, why) => {
    const disk = await cloud.newDisk();
    const ours = await (await cloud.newVm(await cloud.newStemcell())).pong();
    await cloud.result("attach_disk", [ours.cid, disk]);
    await ours.must(write.replaceAll("DISK", `/dev/slipway-${disk}`));
    const sum = `md5sum </dev/slipway-${disk}`;
    const before = await ours.must(sum);
    await cloud.result("detach_disk", [ours.cid, disk]);
    expect(await cloud.refusal("attach_disk", [vm.cid, disk])).toMatch(new RegExp(`DOC-016.*${why}`));
    await cloud.result("attach_disk", [ours.cid, disk]);
    expect(await ours.must(sum)).toBe(before);
    await cloud.result("detach_disk", [ours.cid, disk]);
    await cloud.result("delete_disk", [disk]);
    await cloud.result("delete_vm", [ours.cid]);
  });

  it("runs what the stemcell names as its command, in place of the usual init", async () => {
    const texts = {
      "usr/sbin/runsvdir-start": undefined,
      "sbin-own": "#!/bin/sh\nexec /var/vcap/bosh/bin/bosh-agent",
    };
    const image = await upstreamStemcell(join(cloud.dir, "own.tgz"), { texts });
    const own = await up(
      await newVm({ n: manual(nextAddress()) }, await cloud.newStemcell(image, { command: ["/sbin-own"] })),
    );
    expect(await cloud.result("has_vm", [own.cid])).toBe(true);
    await cloud.result("delete_vm", [own.cid]);
  });

  it.each([
    ["no init", { "usr/sbin/runsvdir-start": undefined }, "DOC-021"],
    ["an agent of systemd's and no systemd", { "var/vcap/bosh/agent.json": systemd() }, "DOC-021"],
    ["a broken configuration of its agent", { "var/vcap/bosh/agent.json": "{" }, "DOC-022"],
  ])("is refused for %s, and nothing is left", async (_, texts, code) => {
    const labels = { [LABEL.director]: cloud.director, [LABEL.kind]: "vm" };
    const before = await listContainers(await cloud.cloud(), labels);
    expect(await refused(texts)).toContain(code);
    expect(await listContainers(await cloud.cloud(), labels)).toEqual(before);
  });
});

function systemd(): string {
  const { Platform, ...rest } = WARDEN_AGENT_JSON;
  return JSON.stringify({ ...rest, Platform: { Linux: { ...Platform.Linux, ServiceManager: "systemd" } } });
}

import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import { execIn } from "@slipway/cpi-docker/engine/exec";
import { unpackStemcell } from "@slipway/engine/stemcells/archive";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { addressOctet } from "@slipway/testkit/address-octet";
import { AGENT_SERVER, CA } from "@slipway/testkit/certificates";
import { DockerCloud, DockerVm, engineTrouble, manual } from "@slipway/testkit/docker-cloud";
import { AGENT_BUNDLE } from "@slipway/testkit/docker-image";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildHostStemcell } from "./build-host.ts";

const trouble = await engineTrouble();

const BEFORE = [
  "umount /etc/resolv.conf",
  "umount /etc/hosts",
  "umount /etc/hostname",
  " : ",
  "rm -rf /var/vcap/data/sys",
  "mkdir -p /var/vcap/data/sys",
  "mkdir -p /var/vcap/store",
  "sed -i 's/chronyc/# chronyc/g' /var/vcap/bosh/bin/sync-time",
];
/** Commands that upstream's Docker CPI runs with bash in a VM, in either of its two ways. */
const COMMANDS = {
  runit: [
    ...BEFORE,
    `printf '%s\\n' "nameserver 192.0.2.7" > /etc/resolv.conf`,
    "exec env -i /usr/sbin/runsvdir-start",
  ],
  systemd: [
    ...BEFORE,
    "ln -sf /run/systemd/resolve/stub-resolv.conf /etc/resolv.conf",
    "rm -rf /etc/sv/{ssh,cron}",
    "rm -rf /etc/service/{ssh,cron}",
    "exec /sbin/init",
  ],
} as const;
const SETTINGS = "/var/vcap/bosh/warden-cpi-agent-env.json";

/** In place of upstream's Docker CPI: the calls to the engine that it makes. */
class UpstreamCpi {
  readonly #cloud: DockerCloud;
  readonly #image = `bosh.io/stemcells:img-${systemRandom.hex(6)}`;
  readonly #network = `upstream-${systemRandom.hex(4)}`;
  readonly #left = new Set<string>();

  constructor(cloud: DockerCloud) {
    this.#cloud = cloud;
  }

  async createStemcell(imagePath: string): Promise<void> {
    const [repo = "", tag = ""] = this.#image.split(":");
    // It unpacks the image itself, and takes no other than a gzipped one.
    const body = createReadStream(imagePath).pipe(createGunzip());
    await this.#post(
      "/images/create",
      { fromSrc: "-", repo, tag, message: "bosh", platform: "linux/amd64" },
      body,
    );
    this.#left.add(`/images/${this.#image}`);
  }

  async createNetwork(range: string): Promise<void> {
    const config = { Subnet: `${range}.0/24`, Gateway: `${range}.1` };
    await this.#post(
      "/networks/create",
      {},
      { Name: this.#network, Driver: "bridge", IPAM: { Config: [config] } },
    );
    this.#left.add(`/networks/${this.#network}`);
  }

  async createVm(
    ip: string,
    way: keyof typeof COMMANDS,
    disks: Readonly<Record<string, string>> = {},
  ): Promise<DockerVm> {
    const cid = `c-${systemRandom.hex(8)}`;
    const modules = join(this.#cloud.dir, "modules");
    await mkdir(modules, { recursive: true });
    const volumes = Object.entries(disks).map(([disk, path]) => `${disk}:${path}`);
    const spec = {
      Image: this.#image,
      Cmd: ["bash", "-c", COMMANDS[way].join(" && ")],
      Env: ["reschedule:on-node-failure"],
      HostConfig: {
        // It asks for all rights, which not every host that runs this test has to give.
        CapAdd: ["SYS_ADMIN", "NET_ADMIN"],
        MaskedPaths: [],
        ReadonlyPaths: [],
        SecurityOpt: ["apparmor=unconfined"],
        PublishAllPorts: true,
        Binds: [`vol-eph-${cid}:/var/vcap/data/`, `${modules}:/usr/lib/modules`, ...volumes],
        NetworkMode: this.#network,
      },
      NetworkingConfig: { EndpointsConfig: { [this.#network]: { IPAMConfig: { IPv4Address: ip } } } },
    };
    await this.#post("/containers/create", { name: cid }, spec);
    this.#left.add(`/containers/${cid}`).add(`/volumes/vol-eph-${cid}`);
    for (const disk of Object.keys(disks)) this.#left.add(`/volumes/${disk}`);
    await this.#post(`/containers/${cid}/start`, {});
    // The settings come when it runs already.
    await this.#put(cid, settingsOf(cid, ip, disks));
    return new DockerVm(this.#cloud, cid, ip);
  }

  /** Reads the settings back as upstream's CPI does, before it recreates a VM with or without a disk. */
  async settings(vm: DockerVm): Promise<string> {
    const { engine } = await this.#cloud.cloud();
    const command = ["tar", "-c", "-f", "-", "-C", "/var/vcap/bosh", "--", "warden-cpi-agent-env.json"];
    return (await execIn(engine, vm.cid, command, "reading settings")).stdout;
  }

  /** Containers first, then what they hold. */
  async close(): Promise<void> {
    const { engine } = await this.#cloud.cloud();
    const order = ["/containers", "/volumes", "/networks", "/images"];
    const rank = (path: string) => order.findIndex((start) => path.startsWith(start));
    for (const path of [...this.#left].sort((one, other) => rank(one) - rank(other)))
      await engine.attempt({ doing: "cleaning", method: "DELETE", path, query: { force: "true" } });
    this.#left.clear();
  }

  async remove(vm: DockerVm): Promise<void> {
    const { engine } = await this.#cloud.cloud();
    await engine.run({
      doing: "removing",
      method: "DELETE",
      path: `/containers/${vm.cid}`,
      query: { force: "true" },
    });
  }

  async #post(path: string, query: Record<string, string>, body: object = {}): Promise<void> {
    const { engine } = await this.#cloud.cloud();
    await engine.run({ doing: path, method: "POST", path, query, body });
  }

  /** In the VM, as it does: what is bound there already is let go of in this moment. */
  async #put(cid: string, settings: object): Promise<void> {
    const { engine } = await this.#cloud.cloud();
    const script = `umask 027; printf %s "$1" >${SETTINGS}`;
    const ran = await execIn(
      engine,
      cid,
      ["bash", "-c", script, "bash", JSON.stringify(settings)],
      "settings",
    );
    expect(ran).toMatchObject({ code: 0 });
  }
}

/** Returns settings as upstream's CPI writes them. */
function settingsOf(cid: string, ip: string, disks: object): object {
  const cert = { ca: CA, certificate: AGENT_SERVER.certificate, private_key: AGENT_SERVER.privateKey };
  return {
    agent_id: `agent-${cid}`,
    vm: { name: cid, id: cid },
    mbus: "https://mbus:s3cret@0.0.0.0:6868",
    ntp: [],
    blobstore: { provider: "local", options: { blobstore_path: "/var/vcap/blobs" } },
    networks: {
      private: { ...manual(ip), dns: ["192.0.2.7"], default: ["dns", "gateway"], preconfigured: true },
    },
    disks: { system: "", persistent: disks },
    env: { bosh: { mbus: { cert } } },
  };
}

describe.runIf(needs("docker", trouble === undefined, trouble))(
  "a stemcell of ours under upstream's Docker CPI",
  () => {
    let cloud: DockerCloud;
    let cpi: UpstreamCpi;
    // The whole range is its network: no other test has a part of it.
    const range = `10.216.${addressOctet()}`;

    beforeAll(async () => {
      cloud = await DockerCloud.open();
      cpi = new UpstreamCpi(cloud);
      const to = join(cloud.dir, "s.tgz");
      await buildHostStemcell({ to, agent: AGENT_BUNDLE, clock: systemClock });
      await mkdir(join(cloud.dir, "unpacked"));
      const { stemcell, imagePath } = await unpackStemcell(to, join(cloud.dir, "unpacked"));
      expect(stemcell.formats).toContain("general-tar");
      await cpi.createStemcell(imagePath);
      await cpi.createNetwork(range);
    });
    afterAll(async () => {
      await cpi.close();
      await cloud.close();
    });

    it.each(["runit", "systemd"] as const)("has an agent that answers, started as for %s", async (way) => {
      const vm = await (await cpi.createVm(`${range}.20`, way)).pong();
      expect(await vm.value("get_state")).toMatchObject({ agent_id: `agent-${vm.cid}` });
      expect(await vm.must("cat /etc/resolv.conf")).toContain("nameserver 192.0.2.7");
      expect(await cpi.settings(vm)).toContain(`agent-${vm.cid}`);
      await cpi.remove(vm);
    });

    it("mounts the directories that are its disks there, with what an earlier VM wrote", async () => {
      const disk = `vol-${systemRandom.hex(8)}`;
      const disks = { [disk]: `/warden-cpi-dev/${disk}` };
      const one = await (await cpi.createVm(`${range}.21`, "runit", disks)).pong();
      await one.value("mount_disk", disk);
      expect(await one.value("list_disk")).toEqual([disk]);
      await one.must("echo kept >/var/vcap/store/file");
      await one.value("unmount_disk", disk);
      expect(await one.must("ls /var/vcap/store")).toBe("");
      await cpi.remove(one);
      const two = await (await cpi.createVm(`${range}.22`, "runit", disks)).pong();
      await two.value("mount_disk", disk);
      expect(await two.must("cat /var/vcap/store/file")).toBe("kept");
      await cpi.remove(two);
    });
  },
);

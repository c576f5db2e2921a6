import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DockerCloudContext, openCloud } from "@slipway/cpi-docker/cloud-context";
import { cpiDocker } from "@slipway/cpi-docker/cpi-docker";
import { diskHelperName } from "@slipway/cpi-docker/disks/disk-helper";
import { addressOf } from "@slipway/cpi-docker/engine/address";
import { Engine } from "@slipway/cpi-docker/engine/engine";
import { type ExecResult, execIn } from "@slipway/cpi-docker/engine/exec";
import { LABEL, labelled } from "@slipway/cpi-docker/labels";
import { listContainers, removeContainer } from "@slipway/cpi-docker/vms/containers";
import { embed } from "@slipway/cpi-sdk/embed";
import { systemClock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import * as v from "valibot";
import { expect, vi } from "vitest";
import { addressOctet } from "./address-octet.ts";
import { AGENT_SERVER, CA } from "./certificates.ts";
import { CpiUnderTest } from "./cpi-under-test.ts";
import { testImage } from "./docker-image.ts";
import { post } from "./https-client.ts";

/** Only an engine that was named for it: the suites kill and remove things on it. */
export const HOST = process.env.SLIPWAY_DOCKER_HOST ?? "";

export async function engineTrouble(): Promise<string | undefined> {
  if (HOST === "") return "SLIPWAY_DOCKER_HOST names no Docker Engine";
  return await Engine.open(addressOf({ host: HOST })).then(
    () => undefined,
    (error: unknown) => messageTrail(error),
  );
}

/** A range no other test of this machine uses at the same time. */
const OCTET = addressOctet();
let lastHost = 0;

export const nextAddress = (third = OCTET): string => `10.213.${third}.${(++lastHost % 240) + 10}`;

/** An engine with a volume of the test's own on it, and the CPI. */
export class DockerCloud extends CpiUnderTest {
  readonly dir: string;
  readonly config: { dir: string; host: string; volume: string };
  readonly #stemcells: string[] = [];

  private constructor(dir: string, host: string) {
    super(`director-${systemRandom.hex(4)}`);
    this.dir = dir;
    this.config = { dir, host, volume: `slipway-test-${systemRandom.hex(4)}` };
  }

  static async open(host = HOST): Promise<DockerCloud> {
    return new DockerCloud(await mkdtemp(join(tmpdir(), "slipway-docker-")), host);
  }

  async cloud(): Promise<DockerCloudContext> {
    return await openCloud({ config: { network: "bridge", provisioning: "preallocated", ...this.config } });
  }

  async close(): Promise<void> {
    const cloud = await this.cloud();
    for (const { cid } of await listContainers(cloud, { [LABEL.director]: this.director })) {
      await this.ask("delete_vm", [cid]);
    }
    await removeContainer(cloud, diskHelperName(cloud));
    const gone = async (path: string) =>
      void (await cloud.engine.attempt({ doing: "cleaning", method: "DELETE", path }));
    await gone(`/volumes/${this.config.volume}`);
    // One by one: an engine prunes for one client at a time.
    const networks = await cloud.engine.json(v.array(v.looseObject({ Id: v.string() })), {
      doing: "cleaning",
      method: "GET",
      path: "/networks",
      query: { filters: labelled({ [LABEL.director]: this.director }) },
    });
    for (const { Id } of networks) await gone(`/networks/${Id}`);
    for (const cid of this.#stemcells) await this.ask("delete_stemcell", [cid]);
    const ours = JSON.stringify({ reference: ["slipway-keeper"] });
    const images = await cloud.engine.json(v.array(v.looseObject({ Id: v.string() })), {
      doing: "cleaning",
      method: "GET",
      path: "/images/json",
      query: { filters: ours },
    });
    // Those of suites beside this one are in use, and stay.
    for (const { Id } of images) await gone(`/images/${Id}`);
    await rm(this.dir, { recursive: true, force: true });
  }

  async ask(method: string, args: readonly unknown[], requestId?: string): Promise<CpiResponse> {
    const mbus = "https://mbus:s3cret@0.0.0.0:6868";
    const blobstore = { provider: "local", options: { blobstore_path: "/var/vcap/blobs" } };
    const cpi = embed(cpiDocker, { config: { docker: this.config, agent: { mbus, blobstore } } });
    return await cpi.request(this.request(method, args, requestId));
  }

  /** With our agent in it, when no image is given. */
  async newStemcell(image?: string, properties: object = {}): Promise<string> {
    const cid = await this.result<string>("create_stemcell", [image ?? (await testImage()), properties]);
    this.#stemcells.push(cid);
    return cid;
  }

  /** Ids of images that calls of this test left on the engine, light stemcells apart. */
  async images(): Promise<string[]> {
    const { engine } = await this.cloud();
    const found = await engine.json(v.array(v.looseObject({ Id: v.string() })), {
      doing: "looking for images",
      method: "GET",
      path: "/images/json",
      query: { all: "true", filters: labelled({ [LABEL.director]: this.director }) },
    });
    return found.map(({ Id }) => Id).sort();
  }

  /** A stemcell whose image is this text. */
  async refusedStemcell(text: string, properties: object = {}): Promise<string> {
    const file = join(this.dir, `image-${this.next()}`);
    await writeFile(file, text);
    return await this.refusal("create_stemcell", [file, properties]);
  }

  vmArguments(stemcell: string, networks: object, properties: object = {}): unknown[] {
    const cert = { ca: CA, certificate: AGENT_SERVER.certificate, private_key: AGENT_SERVER.privateKey };
    const groups = [this.director, "shop", "db"];
    return [`agent-${this.next()}`, stemcell, properties, networks, [], { bosh: { mbus: { cert }, groups } }];
  }

  async newVm(stemcell: string, ip = nextAddress(), properties: object = {}): Promise<DockerVm> {
    const args = this.vmArguments(stemcell, { private: manual(ip) }, properties);
    const [cid] = await this.result<[string]>("create_vm", args);
    return new DockerVm(this, cid, ip);
  }

  async newDisk(size = 32): Promise<string> {
    return await this.result<string>("create_disk", [size, {}, null]);
  }

  /** Attached and mounted as a Director does it. */
  async mounted(vm: DockerVm, disk: string): Promise<void> {
    const hint = await this.result("attach_disk", [vm.cid, disk]);
    await vm.value("add_persistent_disk", disk, hint);
    await vm.value("mount_disk", disk);
  }

  async unmounted(vm: DockerVm, disk: string): Promise<void> {
    await vm.value("unmount_disk", disk);
    await vm.value("remove_persistent_disk", disk);
    await this.result("detach_disk", [vm.cid, disk]);
  }

  /** Disks of this test that have a loop device on the engine's host. */
  async loops(): Promise<string[]> {
    const cloud = await this.cloud();
    const script = "losetup --noheadings --output BACK-FILE; ls /slipway/disks";
    const { stdout } = await execIn(
      cloud.engine,
      diskHelperName(cloud),
      ["sh", "-c", script],
      "looking for loops",
    );
    const lines = stdout.split("\n");
    const mine = lines.filter((line) => /^disk-\w+$/.test(line));
    return mine.filter((disk) => lines.some((line) => line.includes(`/${disk}.img`)));
  }
}

export const manual = (ip: string, more: object = {}) => ({
  type: "manual",
  ip,
  netmask: "255.255.255.0",
  gateway: ip.replace(/\d+$/, "1"),
  ...more,
});

/** A VM with our agent in it, as a Director sees it. */
export class DockerVm {
  readonly cid: string;
  readonly ip: string;
  readonly #cloud: DockerCloud;

  constructor(cloud: DockerCloud, cid: string, ip: string) {
    this.#cloud = cloud;
    this.cid = cid;
    this.ip = ip;
  }

  async ask(
    method: string,
    ...args: readonly unknown[]
  ): Promise<{ value?: unknown; exception?: { message: string } }> {
    const body = JSON.stringify({ protocol: 3, method, arguments: args, reply_to: "test" });
    const reply = await post(6868, body, {
      host: this.ip,
      checkServerIdentity: () => undefined,
      timeout: 60_000,
    });
    return JSON.parse(reply.text) as { value?: unknown };
  }

  async value(method: string, ...args: readonly unknown[]): Promise<unknown> {
    let reply = await this.ask(method, ...args);
    for (let task = taskIn(reply.value); task !== undefined; task = taskIn(reply.value)) {
      await systemClock.sleep(50);
      reply = await this.ask("get_task", task);
    }
    if (reply.exception !== undefined) throw new Error(`${method}: ${reply.exception.message}`);
    return reply.value;
  }

  async pong(): Promise<this> {
    const asked = async () => expect((await this.ask("ping")).value).toBe("pong");
    await vi.waitFor(asked, { timeout: 120_000, interval: 50 });
    return this;
  }

  async run(script: string): Promise<ExecResult> {
    const { engine } = await this.#cloud.cloud();
    return await execIn(engine, this.cid, ["sh", "-c", script], "a test");
  }

  async must(script: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(script);
    if (code !== 0) throw new Error(`${script}: ${code} ${stderr}`);
    return stdout.trim();
  }

  async look(): Promise<Record<string, unknown>> {
    const { engine } = await this.#cloud.cloud();
    const reply = await engine.stream({
      doing: "looking",
      method: "GET",
      path: `/containers/${this.cid}/json`,
    });
    return JSON.parse(await reply.text()) as Record<string, unknown>;
  }
}

function taskIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("agent_task_id" in value)) return undefined;
  return (value as { state?: unknown }).state === "running" ? String(value.agent_task_id) : undefined;
}

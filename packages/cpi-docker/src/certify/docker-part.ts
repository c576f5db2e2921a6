import type { CloudPart, DirectorOfPart, StemcellOfCloud } from "@slipway/cpi-sdk/certify-adapter";
import type { Random } from "@slipway/kernel/random";
import type { DockerCloudContext as Docker } from "../cloud-context.ts";
import { must, refused } from "../engine/engine.ts";
import { execIn } from "../engine/exec.ts";
import { EngineRefused } from "../errors.ts";
import { LABEL, type Labels } from "../labels.ts";
import { listContainers, removeContainer, startContainer } from "../vms/containers.ts";
import { outputOf } from "../vms/log.ts";

const CPI_TRIES_MS = 30_000;

interface DockerPartOptions {
  readonly cloud: Docker;
  readonly image: string;
  readonly stemcell: StemcellOfCloud;
  readonly random: Random;
}

/** A network and a volume of an engine. Files are read in the containers, which see what is mounted there. */
export class DockerPart implements CloudPart {
  readonly #docker: Docker;
  /** Three numbers of an address. */
  readonly #range: string;
  #director: string | undefined;
  readonly properties: object;
  readonly stemcell: StemcellOfCloud;

  private constructor({ cloud, image, stemcell }: DockerPartOptions, range: string) {
    const { dir, host, volume } = cloud.config;
    this.#docker = cloud;
    this.#range = range;
    this.properties = { docker: { dir, host, volume, keeper_image: image } };
    this.stemcell = stemcell;
  }

  static async open(options: DockerPartOptions): Promise<DockerPart> {
    const { cloud, random } = options;
    return new DockerPart(options, await reserveRange(cloud, cloud.config.volume, random));
  }

  /** The engine's host, as the containers see it. */
  get registryHost(): string {
    return `${this.#range}.1`;
  }

  belongsTo({ uuid }: DirectorOfPart): string {
    this.#director = uuid;
    return this.#range;
  }

  userData = (vm: string) => this.#read(vm, "warden-cpi-agent-env.json");
  settings = (vm: string) => this.#read(vm, "settings.json");

  async hints(vm: string): Promise<string | undefined> {
    const file = `${BOSH}/persistent_disk_hints.json`;
    const text = await this.#run(vm, `[ ! -e ${file} ] || cat ${file}`);
    return text === "" ? undefined : text;
  }

  agentLog = (vm: string) => outputOf(this.#docker, vm, "all");

  async vms(): Promise<readonly string[]> {
    if (this.#director === undefined) return [];
    const labels = { [LABEL.kind]: "vm", [LABEL.director]: this.#director };
    return (await listContainers(this.#docker, labels)).map(({ cid }) => cid);
  }

  /**
   * All that the disk helper has; without one there was never a disk. A call that was killed may have left it unstarted. One
   * that the engine refuses to start is just being tried by the CPI, which then makes another.
   */
  async disks(): Promise<readonly string[]> {
    const { clock } = this.#docker;
    const since = clock.monotonic();
    for (;;) {
      const [diskHelper] = await listContainers(this.#docker, this.#diskHelper);
      if (diskHelper === undefined) return [];
      try {
        await startContainer(this.#docker, diskHelper.id, "starting the disk helper");
        const names = await this.#run(diskHelper.id, "[ ! -d /slipway/disks ] || ls -A /slipway/disks");
        return names.split("\n").filter((name) => name !== "");
      } catch (error) {
        if (!EngineRefused.is(error) || clock.monotonic() - since > CPI_TRIES_MS) throw error;
        await clock.sleep(200);
      }
    }
  }

  async close(): Promise<void> {
    const { volume } = this.#docker.config;
    // Includes what the engine finished making after its caller was gone.
    for (const vm of await this.vms()) await removeContainer(this.#docker, vm);
    for (const { id } of await listContainers(this.#docker, this.#diskHelper))
      await removeContainer(this.#docker, id);
    await this.#remove(`/volumes/${volume}`);
    await this.#remove(`/networks/${volume}`);
  }

  get #diskHelper(): Labels {
    return { [LABEL.kind]: "keeper", [LABEL.disks]: this.#docker.config.volume };
  }

  async #remove(path: string): Promise<void> {
    const call = { doing: `deleting ${path}`, method: "DELETE", path } as const;
    const reply = await this.#docker.engine.attempt(call);
    // The volume is made with the first disk.
    if (refused(reply) && reply.status === 404) return;
    must(reply, call).discard();
  }

  #read(vm: string, name: string): Promise<string> {
    return this.#run(vm, `cat ${BOSH}/${name}`);
  }

  async #run(container: string, script: string): Promise<string> {
    const doing = `looking into '${container}'`;
    const ran = await execIn(this.#docker.engine, container, ["sh", "-c", script], doing);
    if (ran.code !== 0) throw new Error(`${doing}: ${script}: ${ran.stderr.trim()}`);
    return ran.stdout;
  }
}

const BOSH = "/var/vcap/bosh";
const TRIES = 50;

/** Reserves a range by making the network, so that the engine gives it to no other. 10.224.0 to 10.239.255. */
async function reserveRange({ engine }: Docker, name: string, random: Random): Promise<string> {
  for (let left = TRIES; ; left--) {
    const at = Math.floor(random.fraction() * 16 * 256);
    const range = `10.${224 + (at >> 8)}.${at & 0xff}`;
    const call = {
      doing: `making the network '${name}'`,
      method: "POST",
      path: "/networks/create",
      body: {
        Name: name,
        Driver: "bridge",
        IPAM: { Config: [{ Subnet: `${range}.0/24`, Gateway: `${range}.1` }] },
      },
    } as const;
    const reply = await engine.attempt(call);
    if (refused(reply) && /overlap/i.test(reply.said) && left > 0) continue;
    must(reply, call).discard();
    return range;
  }
}

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CertifyAdapter, CloudPart, DirectorOfPart } from "@slipway/cpi-sdk/certify-adapter";
import { ifThere } from "@slipway/kernel/files";

/** Sandboxes of this machine; a part is a directory. */
export const adapter: CertifyAdapter = {
  executable: "cpi.cjs",
  vm: "sandbox",
  options: {},
  open: async ({ agent }) => ({
    part: async (dir) => new LocalPart(join(dir, "cloud"), agent),
    close: async () => undefined,
  }),
};

class LocalPart implements CloudPart {
  readonly #dir: string;
  readonly properties: object;
  readonly registryHost = "127.0.0.1";
  /** VMs run what this machine has. */
  readonly stemcell = {
    image: `${JSON.stringify({ slipway_local_image: 1, root: "host" })}\n`,
    operatingSystem: "local",
    formats: ["slipway-local"],
    cloudProperties: { infrastructure: "local", root: "host" },
  };

  constructor(dir: string, agent: string) {
    this.#dir = dir;
    this.properties = { local: { dir, agent } };
  }

  /** Returns a range made of the Director's port, which no other Director on this machine has. */
  belongsTo = ({ port }: DirectorOfPart): string => `127.${port >> 8}.${port & 0xff}`;

  userData = (vm: string) => this.#read(vm, "user-data.json");
  settings = (vm: string) => this.#read(vm, "vcap/bosh/settings.json");
  hints = (vm: string) => ifThere(this.#read(vm, "vcap/bosh/persistent_disk_hints.json"));
  agentLog = (vm: string) => this.#read(vm, "agent.log");
  vms = () => this.#list("vms");
  disks = () => this.#list("disks");
  close = async () => undefined;

  #read(vm: string, path: string): Promise<string> {
    return readFile(join(this.#dir, "vms", vm, path), "utf8");
  }

  async #list(kind: string): Promise<readonly string[]> {
    return (await ifThere(readdir(join(this.#dir, kind)))) ?? [];
  }
}

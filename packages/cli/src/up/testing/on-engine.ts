import { addressOf } from "@slipway/cpi-docker/engine/address";
import { Engine } from "@slipway/cpi-docker/engine/engine";
import { LABEL, labelled } from "@slipway/cpi-docker/labels";
import { open } from "@slipway/protocol/schema/json";
import { HOST } from "@slipway/testkit/docker-cloud";
import * as v from "valibot";
import { readChoice } from "../../cpis/choice.ts";
import type { DockerChoice } from "../../cpis/docker/descriptor.ts";
import { homeOf } from "../../home/home.ts";

const things = v.array(
  open({
    Id: v.string(),
    ImageID: v.optional(v.string()),
    RepoTags: v.optional(v.nullable(v.array(v.string()))),
  }),
);

const network = open({ IPAM: open({ Config: v.array(open({ Subnet: v.string() })) }) });

/** Resources of one home on the engine of the tests. */
export class OnEngine {
  readonly #engine: Engine;
  readonly #dir: string;

  private constructor(engine: Engine, dir: string) {
    this.#engine = engine;
    this.#dir = dir;
  }

  static async open(dir: string): Promise<OnEngine> {
    return new OnEngine(await Engine.open(addressOf({ host: HOST })), dir);
  }

  /** Returns 24 bits of the network that containers get by default. Its range is the engine's choice. */
  async defaultRange(): Promise<string> {
    const { IPAM } = await this.#engine.json(network, {
      doing: "looking",
      method: "GET",
      path: "/networks/bridge",
    });
    const [subnet = ""] = IPAM.Config.map(({ Subnet }) => Subnet);
    return subnet.replace(/\d+\/\d+$/, "0/24");
  }

  /** Everything with its labels, by kind, and its volume. */
  async all(): Promise<Readonly<Record<string, readonly string[]>>> {
    const [vms, diskHelpers, networks, images, volume] = await Promise.all([
      this.#list("containers/json", await this.#byDirector("vm")),
      this.#list("containers/json", await this.#diskHelper()),
      this.#list("networks", await this.#byDirector("network")),
      this.#list("images/json", await this.#byDirector("stemcell")),
      this.#volume(),
    ]);
    const idsOf = (found: v.InferOutput<typeof things>) => found.map(({ Id }) => Id);
    return {
      vms: idsOf(vms),
      diskHelpers: idsOf(diskHelpers),
      networks: idsOf(networks),
      images: idsOf(images),
      volume,
    };
  }

  /** Removes what no command of ours removes, and what a failed test has left. */
  async clear(): Promise<void> {
    if ((await this.#choice()) === undefined) return;
    const gone = async (path: string) =>
      void (await this.#engine.attempt({ doing: "cleaning", method: "DELETE", path }));
    const diskHelpers = await this.#list("containers/json", await this.#diskHelper());
    const { vms = [], networks = [], images = [], volume = [] } = await this.all();
    for (const id of [...vms, ...diskHelpers.map(({ Id }) => Id)])
      await gone(`/containers/${id}?force=true&v=true`);
    for (const name of volume) await gone(`/volumes/${name}`);
    for (const id of networks) await gone(`/networks/${id}`);
    // The disk helper's image has a name of its own. One that others use stays.
    for (const id of [...images, ...diskHelpers.map(({ ImageID }) => ImageID ?? "")])
      await gone(`/images/slipway-keeper:${id.replace("sha256:", "").slice(0, 12)}`);
    for (const id of images) await gone(`/images/${id}?force=true`);
  }

  /** Untags stemcells as `docker rmi -f` does, even the last name of an image. Containers made of them keep running. */
  async untagStemcells(): Promise<void> {
    const images = await this.#list("images/json", await this.#byDirector("stemcell"));
    for (const tag of images.flatMap(({ RepoTags }) => RepoTags ?? []))
      if (tag.startsWith("slipway-stemcell:"))
        await this.#engine.run({ doing: "untagging", method: "DELETE", path: `/images/${tag}?force=true` });
  }

  async #choice() {
    const choice = await readChoice(homeOf({ SLIPWAY_HOME: this.#dir }, 1));
    return choice?.cpi === "docker" ? (choice as DockerChoice) : undefined;
  }

  /** Without a Director nothing is labelled by one. */
  async #byDirector(kind: string) {
    return { [LABEL.kind]: kind, [LABEL.director]: (await this.#choice())?.director ?? "nobody" };
  }

  async #diskHelper() {
    return { [LABEL.kind]: "keeper", [LABEL.disks]: (await this.#choice())?.volume ?? "none" };
  }

  async #volume(): Promise<readonly string[]> {
    const name = (await this.#choice())?.volume ?? "none";
    const call = { doing: "looking", method: "GET", path: `/volumes/${name}` } as const;
    return (await this.#engine.find(open({}), call)) === undefined ? [] : [name];
  }

  async #list(what: string, labels: Readonly<Record<string, string>>) {
    const query = { all: "true", filters: labelled(labels) };
    return await this.#engine.json(things, { doing: "looking", method: "GET", path: `/${what}`, query });
  }
}

import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CertifyAdapter, CertifyCloud, CertifyGiven } from "@slipway/cpi-sdk/certify-adapter";
import { type DockerCloudContext as Docker, openCloud } from "../cloud-context.ts";
import { must, refused } from "../engine/engine.ts";
import { LABEL } from "../labels.ts";
import { hostRoot } from "../stemcells/host-root.ts";
import { findImage } from "../stemcells/images.ts";
import { importRoot } from "../stemcells/import.ts";
import { DockerPart } from "./docker-part.ts";

/** The engine is on this machine: a Director speaks with the agents at the addresses of their containers. */
export const adapter: CertifyAdapter = {
  executable: "cpi.cjs",
  vm: "container",
  options: {
    "docker-host": "an engine of this machine; $DOCKER_HOST or unix:///var/run/docker.sock when left out",
  },
  open: (given) =>
    dockerCloud(
      given.options["docker-host"] ?? (process.env.DOCKER_HOST || "unix:///var/run/docker.sock"),
      given,
    ),
};

const TAG = "latest";
const DISK_HELPER = /^slipway-keeper:/;
const IN_USE = 409;

/**
 * Containers of a Docker Engine. All are of one image, which has this machine's programs and the agent; a part is a
 * network, and a volume for disks. Everything has a name that begins with that of the cloud, or the Director's label.
 */
async function dockerCloud(
  host: string,
  { agent, parent, random }: Omit<CertifyGiven, "options">,
): Promise<CertifyCloud> {
  const name = `slipway-mixes-${random.hex(4)}`;
  const docker = (dir: string, volume: string) =>
    openCloud({ config: { dir, host, volume, network: "bridge", provisioning: "preallocated" } });
  const own = await docker(parent, name);
  const id = await importImage(own, name, { agent, parent });
  const stemcell = {
    image: "",
    operatingSystem: "docker",
    formats: ["docker-light"],
    cloudProperties: { infrastructure: "docker", image_reference: `${name}:${TAG}`, digest: id },
  };
  let parts = 0;
  return {
    part: async (dir) => {
      const cloud = await docker(join(dir, "cloud"), `${name}-${++parts}`);
      return await DockerPart.open({ cloud, image: id, stemcell, random });
    },
    close: async () => removeImage(own, id),
  };
}

async function importImage(
  docker: Docker,
  name: string,
  { agent, parent }: { readonly agent: string; readonly parent: string },
): Promise<string> {
  const dir = await mkdtemp(join(parent, "slipway-mixes-image-"));
  try {
    const { path } = await hostRoot({ agent, to: join(dir, "root.tar") });
    const labels = { [LABEL.director]: name };
    const root = { imagePath: path, kind: "tar", command: ["/sbin/init"], labels } as const;
    await importRoot(docker, root, { repo: name, tag: TAG });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  const found = await findImage(docker, `${name}:${TAG}`);
  if (found === undefined) throw new Error("the engine has taken the image, and does not have it");
  return found.Id;
}

/**
 * Removes an image under all its names: stemcells that were not deleted, and disk helpers, have their own. A disk
 * helper of another cloud may be made of it too: then the last name, which is a disk helper's, stays with that one.
 */
async function removeImage(docker: Docker, id: string): Promise<void> {
  const names = (await findImage(docker, id))?.RepoTags ?? [];
  const diskHelpersLast = [...names].sort(
    (one, other) => Number(DISK_HELPER.test(one)) - Number(DISK_HELPER.test(other)),
  );
  for (const name of diskHelpersLast) {
    const call = { doing: `deleting the image ${name}`, method: "DELETE", path: `/images/${name}` } as const;
    const reply = await docker.engine.attempt(call);
    if (refused(reply) && reply.status === IN_USE && DISK_HELPER.test(name)) continue;
    must(reply, call).discard();
  }
}

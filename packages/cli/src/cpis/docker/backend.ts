import { createServer } from "node:net";
import type { Engine } from "@slipway/cpi-docker/engine/engine";
import { withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import { shellWord } from "@slipway/kernel/shell";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Backend, BackendTools } from "../descriptor.ts";
import { seenOn } from "./containers.ts";
import { type DockerChoice, WORDS } from "./descriptor.ts";
import { openEngine, reachOf } from "./engine.ts";
import { NatsElsewhere } from "./errors.ts";

const LOOPBACK = "127.0.0.1";
const ANSWERS_WITHIN_MS = 3000;
const LOOKS_WITHIN_MS = 10_000;

/** Containers of a Docker Engine. They need no Director to run. */
export const dockerBackend = (choice: DockerChoice, { home, clock }: BackendTools): Backend => ({
  words: WORDS,
  outlives: true,
  engine: choice.host,
  kept: `State is kept in ${home.dir}, disks in the Docker volume ${choice.volume}.`,
  leftovers: [
    `docker -H ${shellWord(choice.host)} rm -f slipway-keeper-${choice.volume}`,
    `docker -H ${shellWord(choice.host)} volume rm ${choice.volume}`,
    ...(choice.director === undefined
      ? []
      : ["network prune -f", "image prune -a -f"].map(
          (what) =>
            `docker -H ${shellWord(choice.host)} ${what} --filter label=slipway.director=${choice.director}`,
        )),
  ],
  look: async () => {
    try {
      return await withDeadline("looking at the engine", LOOKS_WITHIN_MS, clock, undefined, async () =>
        seenOn(await openEngine(choice, clock, ANSWERS_WITHIN_MS), choice),
      );
    } catch (error) {
      return { vms: [], disks: undefined, trouble: messageTrail(error) };
    }
  },
  configure: async (config) => {
    const host = await hostForContainers(await openEngine(choice, clock), choice);
    const reached = natsForContainers(config, host);
    if (host === undefined || config.registry?.host !== undefined) return reached;
    return { ...reached, registry: { ...config.registry, host } };
  },
  embedded: async () => {
    const [{ cpiDocker }, { embed }] = await Promise.all([
      import("@slipway/cpi-docker/cpi-docker"),
      import("@slipway/cpi-sdk/embed"),
    ]);
    const { tls, host } = await reachOf(choice);
    const docker = { dir: home.cloud, host, volume: choice.volume, ...(tls !== undefined && { tls }) };
    const config = { cloud: { properties: { docker } } };
    return { name: "docker", open: (around) => embed(cpiDocker, { ...around, config }) };
  },
  startVms: async () => undefined,
  stopVms: async () => undefined,
});

const subnet = open({ Gateway: v.optional(v.string()), Subnet: v.optional(v.string()) });
const bridge = open({ IPAM: v.optional(open({ Config: v.optional(v.nullable(v.array(subnet))) })) });

/**
 * Returns the address at which NATS, or the registry for old stemcells, must listen to be reachable from containers: this
 * machine's end of the engine's bridge. Undefined if the engine is on another machine.
 */
async function hostForContainers(engine: Engine, { host }: DockerChoice): Promise<string | undefined> {
  if (!host.startsWith("unix:")) return undefined;
  const call = { doing: "looking at its bridge", method: "GET", path: "/networks/bridge" } as const;
  const found = await engine.find(bridge, call);
  for (const { Gateway, Subnet } of found?.IPAM?.Config ?? []) {
    const end = Gateway ?? firstIn(Subnet);
    if (end !== undefined && (await isOwn(end))) return end;
  }
  return undefined;
}

/** Returns the first address of a range. An engine reports no gateway for a new bridge until its next start. */
const firstIn = (range = ""): string | undefined =>
  /^(\d+\.\d+\.\d+)\.0\/\d+$/.exec(range)?.[1]?.concat(".1");

/** Returns true if this machine can listen there. A bridge without containers has no carrier, and the system does not list it. */
async function isOwn(address: string): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(0, address, () => server.close(() => resolve(true)));
  });
}

/**
 * Moves a NATS server of this machine to an address that containers reach: they have a loopback of their own. Undefined
 * means that no such address is known. Other addresses in the configuration stay.
 */
function natsForContainers(config: DirectorConfig, host: string | undefined): DirectorConfig {
  const { nats } = config;
  if (nats?.server?.host !== LOOPBACK || nats.urls !== undefined) return config;
  if (host === undefined && config.agent?.transport === "nats") throw NatsElsewhere({});
  if (host === undefined) return config;
  const at = { server: { ...nats.server, host }, blobs: { ...nats.blobs, host } };
  return { ...config, nats: { ...nats, ...at } };
}

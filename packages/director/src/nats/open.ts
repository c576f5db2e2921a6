import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentSecret } from "@slipway/engine/agents/credentials";
import { NatsBus } from "@slipway/engine/agents/nats/bus";
import {
  directorCredentials,
  natsTransportProvider,
} from "@slipway/engine/agents/nats/nats-transport-provider";
import { certificatesOf, type NatsTrust, trustMark } from "@slipway/engine/agents/nats/trust";
import type { TransportProvider } from "@slipway/engine/agents/transport-provider";
import { type Authority, DAY_MS, givenAuthority } from "@slipway/engine/pki/authority";
import { servedNames } from "@slipway/engine/pki/served-names";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Exposition } from "../metrics/exposition.ts";
import { deploymentsOfAgents } from "../store/nats-authorities.ts";
import type { Db } from "../store/schema.ts";
import { AllowedAgents } from "./allowed-agents.ts";
import { OwnAuthorities } from "./authorities.ts";
import { BlobDepot } from "./blob-depot.ts";
import { BlobQuota } from "./blob-quota.ts";
import { BlobServer } from "./blob-server.ts";
import { NatsIncomplete } from "./errors.ts";
import { ManagedServer } from "./managed-server.ts";
import type { NatsAuthorities } from "./rotation.ts";

export interface NatsOptions {
  readonly config: NonNullable<DirectorConfig["nats"]>;
  /** VMs are made with certificates that last, see `natsTransportProvider`. */
  readonly lastingFromBirth?: boolean | undefined;
  readonly stateDir: string;
  readonly authority: Authority;
  readonly secret: AgentSecret;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: (line: string) => void;
  readonly onError: (error: unknown) => void;
  /** Called in the other order at the end, also when something fails here. */
  readonly atClose: (close: () => Promise<void> | void) => void;
}

const PORT = 4222;
/** Upstream's. */
const BLOBS_PORT = 25250;
const BLOBS_DAYS = 397;
/** Logs and compiled packages are fetched as soon as they are there; few VMs have a gigabyte of them. */
const VM_QUOTA_MB = 2_048;
const DEPLOYMENT_QUOTA_MB = 8_192;
const SWEEP_MS = 3_600_000;

export interface OpenedNats {
  readonly transportProvider: TransportProvider;
  readonly bus: NatsBus;
  readonly authorities: NatsAuthorities;
  /** Tells how much agents have put into the blob service. */
  readonly metrics: (into: Exposition) => void;
}

/** Agents over NATS: a server that is given, or one of our own, and the place where they get blobs. */
export async function openNats(options: NatsOptions): Promise<OpenedNats> {
  const { config, db, clock, random, log, onError, atClose } = options;
  const dir = join(options.stateDir, "nats");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const pki = join(options.stateDir, "pki");
  const clients = await givenClients(options);
  const urls = urlsOf(config);
  let server: ManagedServer | undefined;
  const allowed = new AllowedAgents({
    db,
    clock,
    changed: async (agents) => await server?.allow(agents),
    onError,
  });
  let bus: NatsBus | undefined;
  const own = new OwnAuthorities({ ...options, dir: pki, first: options.authority, clients }, async () => {
    await allowed.tellAgain();
    // With the credentials of now. What is under way is asked again, or its answer comes by the next connection.
    await bus?.reconnect();
  });
  const agents = await allowed.open();
  if (config.server !== undefined) {
    await own.open();
    const { program = "nats-server", host = "127.0.0.1", port = PORT } = config.server;
    const names = urls.map((url) => new URL(url).hostname);
    const tools = { trust: () => own.server, clock, warn: log };
    server = new ManagedServer({ program, dir, host, port, names, ...tools });
    await server.start(agents);
    atClose(() => server?.close());
  }
  allowed.start();
  atClose(() => allowed.stop());
  const { depot, quota } = await openDepot(options, allowed);
  const ca = config.ca === undefined ? options.authority.ca : await pemOf("nats.ca", config.ca);
  const given: NatsTrust = { authority: clients?.authority ?? options.authority, serverCa: ca };
  const isOwn = config.server !== undefined && config.ca === undefined;
  const trust = () => (isOwn ? own.trust : given);
  const credentials = directorCredentials({ trust, clock });
  const connected = new NatsBus({ urls, credentials, clock, random, warn: log });
  bus = connected;
  atClose(() => connected.close());
  const authorize = () => allowed.refresh();
  return {
    transportProvider: natsTransportProvider({
      bus: connected,
      urls,
      trust,
      blobs: depot,
      authorize,
      lastingFromBirth: options.lastingFromBirth,
    }),
    bus: connected,
    metrics: (into) => quota.tell(into),
    authorities: isOwn
      ? { now: () => own.now(), own }
      : { now: () => ({ mark: trustMark(given), next: undefined }) },
  };
}

async function openDepot(options: NatsOptions, allowed: AllowedAgents) {
  const { config, db, stateDir, secret, authority, clock, random, onError, atClose } = options;
  const { host = config.server?.host ?? "127.0.0.1", port = BLOBS_PORT, url } = config.blobs ?? {};
  if (url === undefined && ["0.0.0.0", "::"].includes(host))
    throw NatsIncomplete({ why: "nats.blobs.url must say by which address agents reach the Director" });
  const shown = url ?? `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const { vm_quota_mb: vm = VM_QUOTA_MB, deployment_quota_mb: deployment = DEPLOYMENT_QUOTA_MB } =
    config.blobs ?? {};
  const quota = new BlobQuota({
    vmBytes: vm * 2 ** 20,
    deploymentBytes: deployment * 2 ** 20,
    deploymentsOf: (agents) => deploymentsOfAgents(db, agents),
  });
  const depot = new BlobDepot({
    quota,
    dir: join(stateDir, "agent-blobs"),
    secret,
    url: shown,
    ca: authority.ca,
    clock,
    random,
  });
  const issue = () =>
    authority.issue({
      commonName: "slipway blobs",
      sans: servedNames({ host, names: [new URL(shown).hostname], addresses: [] }),
      usage: "server",
      days: BLOBS_DAYS,
    });
  await depot.count();
  let tls = await issue();
  const isThere = (agentId: string) => allowed.has(agentId);
  const server = new BlobServer({ depot, host, port, tls, isThere, clock, onError });
  await server.start();
  atClose(() => server.close());
  let cancel = () => {};
  const later = () => {
    cancel = clock.after(SWEEP_MS, () => {
      void upkeep().catch(onError).finally(later);
    });
  };
  const upkeep = async () => {
    await depot.sweep(isThere);
    if (tls.until - clock.now() > 30 * DAY_MS) return;
    tls = await issue();
    server.useCertificate(tls);
  };
  later();
  atClose(() => cancel());
  return { depot, quota };
}

/** Returns the configured authority that signs for the Director and its agents, and those a server is to trust. */
async function givenClients({ config, clock, random }: NatsOptions) {
  if (config.client_ca === undefined) return undefined;
  const { certificate, private_key } = config.client_ca;
  const pair = {
    certificate: await pemOf("nats.client_ca.certificate", certificate),
    privateKey: await pemOf("nats.client_ca.private_key", private_key),
  };
  const authority = givenAuthority({ ...pair, where: "nats.client_ca" }, { clock, random });
  // The first one signs. Those after it are believed besides, while it takes over.
  return { authority, believed: certificatesOf(pair.certificate).join("\n") };
}

function urlsOf({ urls, server }: NatsOptions["config"]): readonly string[] {
  if (urls !== undefined && urls.length > 0) return urls;
  if (server === undefined)
    throw NatsIncomplete({ why: "it names neither `urls` of a server nor a `server` to start" });
  const { host = "127.0.0.1", port = PORT } = server;
  if (["0.0.0.0", "::"].includes(host))
    throw NatsIncomplete({ why: "`urls` must say by which address agents reach the server" });
  return [`nats://${host.includes(":") ? `[${host}]` : host}:${port}`];
}

/** A PEM text, or the path of a file with one. */
async function pemOf(what: string, given: string): Promise<string> {
  if (given.includes("-----BEGIN")) return given;
  try {
    return await readFile(given, "utf8");
  } catch (cause) {
    throw NatsIncomplete({ why: `${what} names a file that cannot be read: ${given}` }, { cause });
  }
}

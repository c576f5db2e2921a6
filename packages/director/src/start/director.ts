import { mkdir } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { makeAgents } from "@slipway/engine/agents/agents";
import { openAgentSecret } from "@slipway/engine/agents/credentials";
import { cpiOfConfig, makeClouds } from "@slipway/engine/clouds/clouds";
import { type EmbeddedCpi, embeddedCpiPort } from "@slipway/engine/clouds/embedded-cpi";
import { RegistryOfDirector } from "@slipway/engine/clouds/registry-of-director";
import { openAuthority, readyToSign } from "@slipway/engine/pki/authority";
import { type DirectorCertificate, directorCertificate } from "@slipway/engine/pki/director-certificate";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { NEWEST_API_VERSION } from "@slipway/protocol/cpi/api-version";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { DirectorUuid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sweepUploads } from "../api/uploads.ts";
import { assemble } from "../assemble.ts";
import { directorUuid } from "../store/attributes.ts";
import { openEmbedded } from "../store/embedded/open.ts";
import { openSealer } from "../store/key-file.ts";
import { openStore } from "../store/open.ts";
import { early } from "./early.ts";
import { NoCpi } from "./errors.ts";
import { Upkeep } from "./upkeep.ts";
import { openUsers } from "./users.ts";

export interface StartOptions {
  readonly config: DirectorConfig;
  readonly stateDir: string;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  /** The CPI in this process, for a configuration without an executable. */
  readonly embeddedCpi?: Pick<EmbeddedCpi, "name" | "open"> | undefined;
  readonly log: (line: string) => void;
}

export interface Director {
  readonly url: string;
  readonly uuid: string;
  readonly caFile: string;
  /** Of the generated user; undefined when the configuration names users. */
  readonly admin: { readonly name: string; readonly passwordFile: string } | undefined;
  readonly adoptedDatabase: boolean;
  close(): Promise<void>;
}

const VM_AGENT_PORT = 6868;

/** Opens everything, resumes what was under way, then listens. What was opened is closed again if something fails. */
export async function startDirector(options: StartOptions): Promise<Director> {
  const opened: (() => Promise<void> | void)[] = [];
  const closeAll = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    return await start(options, (close) => opened.push(close), closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function start(
  options: StartOptions,
  atClose: (close: () => Promise<void> | void) => void,
  closeAll: () => Promise<void>,
): Promise<Director> {
  const { config, stateDir, clock, random, log } = options;
  const onError = (error: unknown) => log(`error: ${error instanceof Error ? error.message : String(error)}`);
  // The last connections of a store that is closed are cut off by its server, which is as it should be.
  let closing = false;
  const host = config.listen?.host ?? "127.0.0.1";
  const uploadsDir = join(stateDir, "uploads");

  const pkiDir = join(stateDir, "pki");
  const loadApi = early(clock, () => import("../api/server.ts"));
  const loadSigning = early(clock, () => readyToSign(pkiDir));
  const database = await openDatabase(options, onError);
  atClose(() => database.close());
  await loadSigning();
  const certified = openAuthority({ dir: pkiDir, clock, random }).then(async (authority) => ({
    authority,
    certificate: await directorCertificate({
      authority,
      dir: pkiDir,
      clock,
      host,
      names: config.listen?.names ?? [],
      warn: log,
    }),
  }));
  const sealer = await openSealer({ dir: stateDir, random });
  const opening = openStore({
    connection: database.connection,
    sealer,
    onIdleError: (error) => {
      if (!closing) onError(error);
    },
  });
  // Also when something beside it fails meanwhile.
  atClose(async () => {
    closing = true;
    await opening.then(
      (store) => store.close(),
      () => undefined,
    );
  });
  const [store, { authority, certificate }, secret, { users, admin }] = await Promise.all([
    opening,
    certified,
    openAgentSecret({ dir: stateDir, random }),
    openUsers(config.users, stateDir, random),
    mkdir(uploadsDir, { recursive: true, mode: 0o700 }),
  ]);

  await sweepUploads(store.db, uploadsDir, random);

  const uuid = (await directorUuid(store.db, random)) as DirectorUuid;
  const registry = new RegistryOfDirector({ stateDir, ...config.registry, clock, random, onError });
  atClose(() => registry.close());
  await registry.resume();
  const { embeddedCpi } = options;
  const cpi = cpiOfConfig(config, {
    clock,
    embedded: () => {
      if (embeddedCpi === undefined) throw NoCpi({});
      return embeddedCpiPort({ ...embeddedCpi, clock });
    },
  });
  const limits = config.director ?? {};
  const clouds = makeClouds({
    cpis: [cpi],
    directorUuid: uuid,
    random,
    registry,
    maxApiVersion: limits.cpi_api_test_max_version,
  });
  const agents = makeAgents({
    authority,
    secret,
    port: config.agent?.port ?? VM_AGENT_PORT,
    clock,
    random,
    directorUuid: uuid,
    warn: log,
  });
  atClose(() => agents.close());

  const name = config.name ?? "slipway";
  const runner = assemble({
    db: store.db,
    clouds,
    agents,
    clock,
    random,
    settings: {
      directorName: name,
      directorUuid: uuid,
      agentEnvBosh: (config.agent?.env ?? {}) as JsonObject,
      agentWaitMs: (config.agent?.wait_timeout_s ?? 600) * 1000,
      maxVmCreateTries: limits.max_vm_create_tries ?? 5,
      keepUnreachableVms: limits.keep_unreachable_vms ?? false,
      stopTimeoutMs: 300_000,
    },
    options: {
      enableCpiResizeDisk: limits.enable_cpi_resize_disk ?? false,
      enableCpiUpdateDisk: limits.enable_cpi_update_disk ?? false,
    },
    uploadsDir,
    ownIps: ownAddresses(host),
    workers: limits.workers,
    keepTasks: limits.keep_tasks,
    alone: config.database?.url === undefined,
    onError,
  });
  runner.start();
  atClose(() => runner.stop());
  const listener = store.listen({ clock, onNotice: (what) => runner.notice(what), onError });
  atClose(() => listener.close());
  const upkeep = new Upkeep({
    db: store.db,
    tasks: runner,
    clock,
    days: limits.orphan_disk_days ?? 5,
    onError,
  });
  upkeep.start();
  atClose(() => upkeep.stop());

  const { startApi } = await loadApi();
  const api = await startApi(
    {
      db: store.db,
      tasks: runner,
      agents,
      identity: {
        name,
        uuid,
        version: options.version,
        cpi: config.cpi?.exec_path ?? embeddedCpi?.name ?? "",
        cpiApiVersion: limits.cpi_api_test_max_version ?? NEWEST_API_VERSION,
      },
      users,
      uploadsDir,
      clock,
      random,
      onError,
      certificates: () => Promise.resolve([expiryOf(certificate, clock.now())]),
    },
    { tls: certificate, host, port: config.listen?.port ?? 25555 },
  );
  atClose(() => api.close());
  return {
    url: `https://${shownHost(host)}:${api.port}`,
    uuid,
    caFile: certificate.paths.ca,
    admin,
    adoptedDatabase: database.adopted,
    close: closeAll,
  };
}

async function openDatabase({ config, stateDir, clock }: StartOptions, onLost: (error: unknown) => void) {
  const url = config.database?.url;
  if (url === undefined) return await openEmbedded({ stateDir, clock, onLost });
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  return { connection: { connectionString: url }, adopted: false, close: () => Promise.resolve() };
}

const DAY_MS = 86_400_000;

const expiryOf = ({ paths, until }: DirectorCertificate, now: number) => ({
  certificate_path: paths.pair,
  expiry: new Date(until).toISOString(),
  days_left: Math.floor((until - now) / DAY_MS),
});

/** Loopback is no VM's, but where VMs are processes they share it with the Director. */
function ownAddresses(host: string): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
  return [...new Set(host === "0.0.0.0" || host === "::" ? all : [...all, host])];
}

const shownHost = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;

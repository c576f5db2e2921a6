import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openAgentSecret } from "@slipway/engine/agents/credentials";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { cpiOfConfig, makeClouds } from "@slipway/engine/clouds/clouds";
import { type EmbeddedCpi, embeddedCpiPort } from "@slipway/engine/clouds/embedded-cpi";
import { RegistryOfDirector } from "@slipway/engine/clouds/registry-of-director";
import { openAuthority, readyToSign } from "@slipway/engine/pki/authority";
import { directorCertificate } from "@slipway/engine/pki/director-certificate";
import { agentEnvOf } from "@slipway/engine/steps/env";
import type { Clock } from "@slipway/kernel/clock";
import { collapseRepeats } from "@slipway/kernel/collapse";
import { messageTrail } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import { DIRECTOR_ALERT_SUBJECT } from "@slipway/protocol/agent/subjects";
import { NEWEST_API_VERSION } from "@slipway/protocol/cpi/api-version";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { DirectorUuid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { UploadSpace } from "../api/upload-space.ts";
import { sweepUploads } from "../api/uploads.ts";
import { assemble } from "../assemble.ts";
import { documentsHere } from "../documents/documents.ts";
import { DocumentWorkers } from "../documents/workers.ts";
import { expireLogs } from "../operations/log-blobs.ts";
import { sweepReleaseBlobs } from "../operations/releases/blobs.ts";
import { directorUuid } from "../store/attributes.ts";
import { openSealer } from "../store/key-file.ts";
import { openStore } from "../store/open.ts";
import { openRenderer } from "../templates/renderer.ts";
import { openConfigServer } from "../variables/open.ts";
import { ownAddresses, shownHost } from "./addresses.ts";
import { early } from "./early.ts";
import { NoCpi } from "./errors.ts";
import { expiryOf } from "./expiry.ts";
import { openHealth } from "./health.ts";
import { localDnsOf, NamesKeeper } from "./names-keeper.ts";
import { noteStart } from "./note-start.ts";
import { openAgents } from "./open-agents.ts";
import { openDatabase } from "./open-database.ts";
import { diskSpace } from "./space.ts";
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
  /**
   * The script of this program, if it calls `servesDocuments` before anything else: documents are then read on threads
   * of their own. Without it they are read on this one.
   */
  readonly script?: string | undefined;
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
  const { config, stateDir, clock, random } = options;
  // A database that is gone, or a disk that is full, is the same trouble many times a second.
  const log = collapseRepeats(clock, options.log);
  // With all its causes: what a caller is told says no more than that it is here.
  const onError = (error: unknown) => log(`error: ${messageTrail(error)}`);
  // The last connections of a store that is closed are cut off by its server, which is as it should be.
  let closing = false;
  const host = config.listen?.host ?? "127.0.0.1";
  const uploadsDir = join(stateDir, "uploads");
  const blobsDir = join(stateDir, "blobs");

  const pkiDir = join(stateDir, "pki");
  const loadApi = early(clock, () => import("../api/server.ts"));
  const loadSigning = early(clock, () => readyToSign(pkiDir));
  const database = await openDatabase(options, onError);
  atClose(() => database.close());
  await loadSigning();
  const names = config.listen?.names ?? [];
  const certified = openAuthority({ dir: pkiDir, clock, random }).then(async (authority) => {
    const certify = () => directorCertificate({ authority, dir: pkiDir, clock, host, names, warn: log });
    return { authority, certify, first: await certify() };
  });
  const sealer = await openSealer({ dir: stateDir, random });
  const opening = openStore({
    connection: database.connection,
    sealer,
    clock,
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
  const [store, { authority, certify, first }, secret, { users, admin }] = await Promise.all([
    opening,
    certified,
    openAgentSecret({ dir: stateDir, random }),
    openUsers(config.users, stateDir, random),
    mkdir(uploadsDir, { recursive: true, mode: 0o700 }),
    mkdir(blobsDir, { recursive: true, mode: 0o700 }),
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
  const { agents, bus, nats } = await openAgents({
    config,
    stateDir,
    directorUuid: uuid,
    ...{ authority, secret, db: store.db, clock, random, log, onError, atClose },
  });

  const uploads = new UploadSpace();
  const blobs = directoryBlobs({ dir: blobsDir, random });
  // Of a Director that was killed; other Directors of a shared store have blobs of their own.
  await blobs.sweep();
  await sweepReleaseBlobs(store.db, blobs);
  const sweep = () => void sweepUploads(store.db, uploadsDir, random, uploads).catch(onError);
  const space = diskSpace(stateDir, clock);
  atClose(() => space.close());
  const problems = () => [space.shortage(), database.trouble()].filter((one) => one !== undefined);
  const { script } = options;
  const documents = script === undefined ? documentsHere : new DocumentWorkers({ script, clock });
  atClose(() => documents.close());

  const ruby = config.templates?.ruby;
  const renderer = openRenderer({ ruby, stateDir, script, clock });
  atClose(() => renderer.close());

  const configServer = await openConfigServer(config.config_server, clock);
  atClose(() => configServer?.close());
  const name = config.name ?? "slipway";
  const dns = localDnsOf(config);
  const runner = assemble({
    db: store.db,
    documents,
    clouds,
    agents,
    nats,
    clock,
    random,
    settings: {
      directorName: name,
      directorUuid: uuid,
      agentEnvBosh: agentEnvOf(config.agent?.env as JsonObject | undefined),
      agentWaitMs: (config.agent?.wait_timeout_s ?? 600) * 1000,
      maxVmCreateTries: limits.max_vm_create_tries ?? 5,
      keepUnreachableVms: limits.keep_unreachable_vms ?? false,
      stopTimeoutMs: 300_000,
    },
    options: {
      enableCpiResizeDisk: limits.enable_cpi_resize_disk ?? false,
      enableCpiUpdateDisk: limits.enable_cpi_update_disk ?? false,
      enableSnapshots: limits.enable_snapshots,
    },
    uploadsDir,
    blobs,
    renderer,
    configServer,
    dns,
    tellMonitors: bus && ((alert) => bus.publish(DIRECTOR_ALERT_SUBJECT, JSON.stringify(alert))),
    ownIps: ownAddresses(host),
    workers: limits.workers,
    keepTasks: limits.keep_tasks,
    alone: config.database?.url === undefined,
    space,
    onOver: sweep,
    onError,
  });
  runner.start();
  atClose(() => runner.stop());
  const listener = store.listen({ clock, onNotice: (what) => runner.notice(what), onError });
  atClose(() => listener.close());
  const watching = { db: store.db, tasks: runner, agents, channel: bus, clock, random, onError };
  const health = await openHealth(config.health, watching, log);
  if (health !== undefined) atClose(() => health.stop());
  let certificate = first;
  const { startApi } = await loadApi();
  const api = await startApi(
    {
      db: store.db,
      documents,
      tasks: runner,
      agents,
      health,
      dns,
      identity: {
        name,
        uuid,
        version: options.version,
        cpi: config.cpi?.exec_path ?? embeddedCpi?.name ?? "",
        cpiApiVersion: limits.cpi_api_test_max_version ?? NEWEST_API_VERSION,
        snapshots: limits.enable_snapshots,
      },
      users,
      problems,
      uploadsDir,
      uploads,
      blobs,
      clock,
      random,
      onError,
      certificates: () => Promise.resolve([expiryOf(certificate, clock.now())]),
    },
    { tls: certificate, host, port: config.listen?.port ?? 25555 },
  );
  atClose(() => api.close());
  await noteStart(store.db, { uuid, version: options.version, worker: runner.name });
  const upkeep = new Upkeep({
    db: store.db,
    tasks: runner,
    clock,
    days: limits.orphan_disk_days ?? 5,
    nats,
    expireLogs: () => expireLogs(blobs, clock.now()),
    renewCertificate: async () => {
      const now = await certify();
      if (now.cert !== certificate.cert) api.useCertificate(now);
      certificate = now;
    },
    onError,
  });
  upkeep.start();
  atClose(() => upkeep.stop());
  health?.start();
  if (dns.enabled) {
    const keeper = new NamesKeeper({ db: store.db, agents, dns, clock, onError });
    keeper.start();
    atClose(() => keeper.stop());
  }
  return {
    url: `https://${shownHost(host)}:${api.port}`,
    uuid,
    caFile: certificate.paths.ca,
    admin,
    adoptedDatabase: database.adopted,
    close: closeAll,
  };
}

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openAgentSecret } from "@slipway/engine/agents/credentials";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import type { EmbeddedCpi } from "@slipway/engine/clouds/embedded-cpi";
import { RegistryOfDirector } from "@slipway/engine/clouds/registry-of-director";
import { openAuthority } from "@slipway/engine/pki/authority";
import { directorCertificate } from "@slipway/engine/pki/director-certificate";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { DIRECTOR_ALERT_SUBJECT } from "@slipway/protocol/agent/subjects";
import { NEWEST_API_VERSION } from "@slipway/protocol/cpi/api-version";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { DirectorUuid } from "@slipway/protocol/ids";
import { consoleBeside } from "../api/console-files.ts";
import { UploadSpace } from "../api/upload-space.ts";
import { sweepUploads } from "../api/uploads.ts";
import { assemble } from "../assemble.ts";
import { documentsHere } from "../documents/documents.ts";
import { DocumentWorkers } from "../documents/workers.ts";
import type { Log } from "../log/log.ts";
import { sweepReleaseBlobs } from "../operations/releases/blobs.ts";
import { directorUuid } from "../store/attributes.ts";
import { addEvent } from "../store/events.ts";
import { openSealer } from "../store/key-file.ts";
import { openStore } from "../store/open.ts";
import { restoreTaken } from "../store/restores.ts";
import type { Db } from "../store/schema.ts";
import { openRenderer } from "../templates/renderer.ts";
import { openTokens } from "../uaa/tokens.ts";
import { ownVariables } from "../variables/built-in.ts";
import { openConfigServer } from "../variables/open.ts";
import {
  apiCertificate,
  configuredCertificate,
  expiryOf,
  openUsers,
  ownAddresses,
  shownHost,
} from "./api-settings.ts";
import { bytesOfMib, localDnsOf, openHealth, startBackgroundJobs } from "./background-jobs.ts";
import { flowSettings, operationOptions, proxyOf, takeRestart } from "./configuration.ts";
import { cpiNameOf, openAgents, openClouds } from "./cpis-and-agents.ts";
import { type Acceptable, checkIdentity, mustKeepUsers } from "./identity.ts";
import { openObservability } from "./observability.ts";
import { diskSpace, openDatabase } from "./state-directory.ts";

export interface StartOptions {
  readonly config: DirectorConfig;
  readonly stateDir: string;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Changes that the operator has made on purpose since the last start. */
  readonly accept?: readonly Acceptable[] | undefined;
  /** The CPI in this process, for a configuration without an executable. */
  readonly embeddedCpi?: Pick<EmbeddedCpi, "name" | "open"> | undefined;
  /**
   * The script of this program, if it calls `servesDocuments` before anything else: documents are then read on threads
   * of their own, and CPIs started by the fork server beside it. Without it this process does both.
   */
  readonly script?: string | undefined;
  readonly log: (line: string) => void;
}

export interface Director {
  readonly url: string;
  readonly uuid: string;
  readonly caFile: string;
  /** The generated user; undefined when the configuration names users. */
  readonly admin: { readonly name: string; readonly passwordFile: string } | undefined;
  readonly adoptedDatabase: boolean;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Takes over what can be changed while it runs, and tells what else is other than at the start: that takes a restart. */
  reload(config: DirectorConfig): Promise<readonly string[]>;
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
  const { config, stateDir, clock, random, embeddedCpi, script } = options;
  const observability = await openObservability(options, atClose);
  const { log, onError } = observability;
  // The last connections of a store that is closed are cut off by its server, which is as it should be.
  let closing = false;
  const host = config.listen?.host ?? "127.0.0.1";
  const uploadsDir = join(stateDir, "uploads");
  const blobsDir = join(stateDir, "blobs");

  const pkiDir = join(stateDir, "pki");
  const loadApi = preload(clock, () => import("../api/server.ts"));
  const database = await openDatabase(options, onError);
  atClose(() => database.close());
  const names = config.listen?.names ?? [];
  const sealer = await openSealer({ dir: stateDir, random });
  // Nothing is awaited until all of these are: what failed meanwhile would end the process, and leave its database.
  const certified = openAuthority({ dir: pkiDir, clock, random }).then(async (authority) => {
    const certify = async (listen: DirectorConfig["listen"] = {}) => {
      const own = await directorCertificate({ authority, dir: pkiDir, clock, host, names, warn: log });
      return await apiCertificate(own, listen, pkiDir, clock.now());
    };
    return { authority, certify, first: await certify(config.listen) };
  });
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
  const name = config.name ?? "slipway";
  await checkIdentity(store.db, { config, name, authority, secret, embeddedCpi }, options.accept);
  await sweepUploads(store.db, uploadsDir, random);
  const uuid = (await directorUuid(store.db, random, config.uuid)) as DirectorUuid;
  await restoreTaken(store.db);
  const registry = new RegistryOfDirector({ stateDir, ...config.registry, clock, random, onError });
  atClose(() => registry.close());
  await registry.resume();
  const given = { config, script, embeddedCpi, clock, directorUuid: uuid, random, registry, atClose };
  const clouds = openClouds(given);
  const limits = config.director ?? {};
  const {
    agents,
    bus,
    nats,
    metrics: agentMetrics,
  } = await openAgents({
    ...{ config, stateDir, directorUuid: uuid },
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
  const documents = script === undefined ? documentsHere : new DocumentWorkers({ script, clock });
  atClose(() => documents.close());
  const renderer = openRenderer({ ruby: config.templates?.ruby, stateDir, script, clock });
  atClose(() => renderer.close());
  const configServer = await openConfigServer(config.config_server, clock);
  atClose(() => configServer?.close());
  const tokens = await openTokens(config.uaa, { clock, onError });
  atClose(() => tokens?.close());
  const dns = localDnsOf(config);
  let proxy = proxyOf(config);
  const runner = assemble({
    db: store.db,
    documents,
    clouds,
    agents,
    nats,
    clock,
    random,
    settings: await flowSettings(config, { name, uuid }),
    options: operationOptions(config),
    uploadsDir,
    blobs,
    renderer,
    keyedHash: sealer.keyedHash,
    configServer,
    dns,
    tellMonitors: bus && ((alert) => bus.publish(DIRECTOR_ALERT_SUBJECT, JSON.stringify(alert))),
    proxy: () => proxy,
    ownIps: ownAddresses(host),
    workers: limits.workers,
    limitBytes: bytesOfMib(limits.task_output_mib),
    alone: config.database?.url === undefined,
    space,
    onOver: sweep,
    watch: observability.watch,
    onError,
  });
  runner.start();
  atClose(() => runner.stop());
  const listener = store.listen({ clock, onNotice: (what) => runner.notice(what), onError });
  atClose(() => listener.close());
  const watching = { db: store.db, tasks: runner, agents, channel: bus, nats, clock, random, onError };
  const health = await openHealth(config.health, watching, log);
  if (health !== undefined) atClose(() => health.stop());
  const plain = config.listen?.plain_http === true;
  let listen = config.listen;
  let certificate = first;
  const renewCertificate = async () => {
    const now = await certify(listen);
    if (now.cert !== certificate.cert) api.useCertificate(now);
    certificate = now;
  };
  const identity = { name, uuid, version: options.version };
  const expiry = () => [expiryOf(certificate, clock.now())];
  const selfReport = observability.selfReport({
    ...{ identity, since: clock.now(), db: store.db, embedded: config.database?.url === undefined, stateDir },
    ...{ workers: () => runner.load, certificates: expiry, nats: bus, problems, clock, agentMetrics },
  });
  const { startApi } = await loadApi();
  const api = await startApi(
    {
      db: store.db,
      documents,
      cpis: clouds,
      configServer: configServer ?? ownVariables({ db: store.db, clock, random }),
      configServerUrl: config.config_server?.url,
      tasks: runner,
      agents,
      health,
      dns,
      identity: {
        ...identity,
        cpi: cpiNameOf(config.cpi, embeddedCpi?.name),
        cpiApiVersion: limits.cpi_api_test_max_version ?? NEWEST_API_VERSION,
        snapshots: limits.enable_snapshots,
      },
      managesNetworks: limits.enable_cpi_network_management,
      ignoreMissingGateway: limits.ignore_missing_gateway,
      users,
      tokens,
      problems,
      console: consoleBeside(script),
      uploadsDir,
      uploads,
      blobs,
      clock,
      random,
      onError,
      onAnswered: observability.onAnswered,
      certificates: () => Promise.resolve(expiry()),
      ...selfReport,
    },
    { tls: plain ? "plain" : certificate, host, port: config.listen?.port ?? 25555 },
  );
  atClose(() => api.close());
  await noteStart(store.db, { uuid, version: options.version, worker: runner.name });
  startBackgroundJobs({
    ...{ db: store.db, tasks: runner, wake: () => runner.wake(), clock, agents, nats, blobs, limits, dns },
    ...{ renewCertificate, onError, atClose },
  });
  health?.start();
  return {
    url: `${plain ? "http" : "https"}://${shownHost(host)}:${api.port}`,
    uuid,
    caFile: certificate.paths.ca,
    admin,
    adoptedDatabase: database.adopted,
    log: observability.lines,
    reload: async (changed) => {
      mustKeepUsers(config, changed);
      const { users: known } = await openUsers(changed.users, stateDir, random);
      // What cannot be used throws before anything is taken over.
      await configuredCertificate(changed.listen ?? {}, clock.now());
      const see = await observability.prepare(changed);
      api.useUsers(known);
      see();
      proxy = proxyOf(changed);
      listen = changed.listen;
      await renewCertificate();
      return takeRestart(config, changed);
    },
    close: closeAll,
  };
}

/** Starts of the Director and of what runs its tasks are events, as upstream's are. */
export async function noteStart(
  db: Db,
  { uuid, version, worker }: { readonly uuid: string; readonly version: string; readonly worker: string },
): Promise<void> {
  const started = { user: "_director", action: "start" };
  await addEvent(db, { ...started, objectType: "director", objectName: uuid, context: { version } });
  await addEvent(db, { ...started, objectType: "worker", objectName: worker });
}

/** Delay after which the database's process is under way and this one is idle. */
const SOON_MS = 30;

/** Loads when it is asked for, or soon by itself: what takes a while to load is there when the database is. */
export function preload<T>(clock: Clock, load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  const get = () => {
    loading ??= load();
    return loading;
  };
  // A failure is for the caller of the returned function.
  const cancel = clock.after(SOON_MS, () => void get().catch(() => undefined));
  return () => {
    cancel();
    return get();
  };
}

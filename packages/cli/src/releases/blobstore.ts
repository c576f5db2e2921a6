import { copyFile, mkdir, rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { ObjectStore } from "@slipway/engine/object-store/object-store";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail, type SlipwayError } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import { nodeWire } from "@slipway/kernel/http/node-wire";
import { proxiesIn } from "@slipway/kernel/http/proxy";
import { proxiedWire } from "@slipway/kernel/http/proxy-wire";
import type { Random } from "@slipway/kernel/random";
import type { ReleaseConfig } from "./config.ts";
import { BlobNotFetched, BlobNotStored, BlobstoreUnusable } from "./errors.ts";

/** Store of a release's blobs and of the archives of its final versions. */
export interface ReleaseBlobstore {
  /** Resolves to its new id. */
  put(file: string): Promise<string>;
  /** Writes a blob into a file, which may be there. Its content is not checked against anything. */
  fetch(id: string, to: string): Promise<void>;
}

interface BlobstoreTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stop: AbortSignal;
}

/** Opened when it is first needed: most commands need none. */
export function blobstoreOf(dir: string, config: ReleaseConfig, tools: BlobstoreTools): ReleaseBlobstore {
  let opened: Promise<ReleaseBlobstore> | undefined;
  const store = () => {
    opened ??= openBlobstore(dir, config, tools);
    return opened;
  };
  return {
    put: async (file) => await (await store()).put(file),
    fetch: async (id, to) => {
      if (!/^[\w-][\w.-]*$/.test(id)) throw BlobstoreUnusable({ why: `'${id}' is no id of a blob` });
      await (await store()).fetch(id, to);
    },
  };
}

async function openBlobstore(
  dir: string,
  { provider, options }: ReleaseConfig,
  tools: BlobstoreTools,
): Promise<ReleaseBlobstore> {
  if (provider === undefined) throw BlobstoreUnusable({ why: "Expected non-empty 'blobstore.provider'" });
  if (provider === "local") return localStore(dir, options, tools.random);
  const stores = await import("@slipway/engine/object-store/open-object-store");
  if (!stores.isObjectStore(provider)) {
    const known = ["local", ...stores.OBJECT_STORES].join(", ");
    throw BlobstoreUnusable({ why: `there is no provider '${provider}'; those that there are: ${known}` });
  }
  const { clock, random, env, stop: signal } = tools;
  const wire = proxiedWire(proxiesIn(env), nodeWire);
  const store = await stores
    .openObjectStore(provider, options, { clock, random, env, signal, wire })
    .catch((cause: unknown) => {
      throw BlobstoreUnusable({ why: `${provider}: ${messageTrail(cause)}` }, { cause });
    });
  return remoteStore(store, random);
}

function remoteStore(store: ObjectStore, random: Random): ReleaseBlobstore {
  const { where } = store;
  // A server that is down is asked for one blob, not for each of a hundred.
  let down: unknown;
  return {
    put: async (file) => {
      const id = random.uuid();
      await store.store(id, file).catch((cause: unknown) => {
        throw BlobNotStored({ where, why: messageTrail(cause) }, { cause });
      });
      return id;
    },
    fetch: async (id, to) => {
      if (down !== undefined) throw down;
      await store.fetch(id, to).catch((cause: unknown) => {
        if (isUnreachable(cause)) down = BlobNotFetched({ id, where, why: messageTrail(cause) }, { cause });
        throw down ?? BlobNotFetched({ id, where, why: messageTrail(cause) }, { cause });
      });
    },
  };
}

const isUnreachable = (error: unknown) =>
  error instanceof Error && error.name === "ObjectTrouble" && "kind" in error && error.kind === "unreachable";

function localStore(dir: string, options: ReleaseConfig["options"], random: Random): ReleaseBlobstore {
  const path = options.blobstore_path;
  if (typeof path !== "string" || path === "") throw BlobstoreUnusable({ why: "missing blobstore_path" });
  const place = isAbsolute(path) ? path : join(dir, path);
  return {
    put: async (file) => {
      const id = random.uuid();
      const to = join(place, id);
      try {
        await mkdir(place, { recursive: true, mode: 0o770 });
        await copyFile(file, to);
      } catch (cause) {
        await rm(to, { force: true });
        throw BlobNotStored({ where: place, why: messageTrail(cause) }, { cause });
      }
      return id;
    },
    fetch: async (id, to) => {
      const from = join(place, id);
      if (!(await exists(from))) throw BlobNotFetched({ id, where: place, why: `it has no blob '${id}'` });
      await copyFile(from, to);
    },
  };
}

/** Tells whether a final build is unavailable, as opposed to damaged or wrongly configured. */
export const isNotFetched = (error: unknown): error is SlipwayError => BlobNotFetched.is(error);

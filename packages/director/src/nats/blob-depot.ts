import { createHash, timingSafeEqual } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AgentRefused } from "@slipway/engine/agents/agent";
import type { AgentSecret } from "@slipway/engine/agents/credentials";
import type { AgentBlobs } from "@slipway/engine/agents/nats/agent-blobs";
import { isBlobId } from "@slipway/engine/blobs/blob-id";
import { type FreeSpace, freeSpace } from "@slipway/engine/stemcells/free-space";
import type { Clock } from "@slipway/kernel/clock";
import { ifThere } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import type { BlobQuota, BlobUpload } from "./blob-quota.ts";
import { NoRoomForBlobs } from "./errors.ts";

export interface BlobDepotOptions {
  readonly dir: string;
  readonly secret: AgentSecret;
  /** URL by which agents reach the blob server. */
  readonly url: string;
  /** CA by which agents verify the blob server, PEM. */
  readonly ca: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Limits what agents may upload. */
  readonly quota: BlobQuota;
  readonly freeSpace?: FreeSpace;
}

/** Time after which blobs are removed: an agent that has not fetched one by then does not want it any more. */
const KEEP_MS = 24 * 3_600_000;
const HALF = ".half";
/** Bytes that may come in before the free space of the disk is looked at again. */
const STEP = 16 << 20;
/** Ids are names of directories. */
const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** Blobs on their way to an agent or from it, in a directory for each agent. */
export class BlobDepot implements AgentBlobs {
  readonly #options: BlobDepotOptions;

  constructor(options: BlobDepotOptions) {
    this.#options = options;
  }

  blobstoreFor(agentId: AgentId) {
    const { url, ca, secret } = this.#options;
    const password = secret.blobPasswordFor(agentId);
    return { provider: "dav", options: { endpoint: url, user: agentId, password, tls: { cert: { ca } } } };
  }

  /** Returns the agent of this user and password. Digests are compared, so that the time reveals nothing. */
  agentOf(user: string, password: string): AgentId | undefined {
    if (!AGENT_ID.test(user)) return undefined;
    const digest = (text: string) => createHash("sha256").update(text).digest();
    const expected = digest(this.#options.secret.blobPasswordFor(user as AgentId));
    return timingSafeEqual(expected, digest(password)) ? (user as AgentId) : undefined;
  }

  async put(
    agentId: AgentId,
    id: string,
    content: Parameters<AgentBlobs["put"]>[2],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const pieces = content instanceof Uint8Array ? Readable.from([Buffer.from(content)]) : content.content;
    await this.#write(agentId, id, pieces, Number.POSITIVE_INFINITY, signal);
    this.#options.quota.forget(agentId, id);
  }

  /**
   * Takes a blob from an agent: all of it or nothing. `size`: as announced, 0 when it is not. False when it is larger than
   * `most`; rejects when a quota refuses it or the disk has no room.
   */
  async take(
    agentId: AgentId,
    id: string,
    content: AsyncIterable<Uint8Array>,
    { size, most }: { readonly size: number; readonly most: number },
  ): Promise<boolean> {
    const upload = await this.#options.quota.begin(agentId);
    try {
      await this.#mustHaveRoom(agentId, Math.max(size, 1));
      const taken = await this.#write(agentId, id, this.#metered(agentId, content, upload), most);
      if (taken) upload.keep(id);
      return taken;
    } finally {
      upload.end();
    }
  }

  async *#metered(agentId: AgentId, content: AsyncIterable<Uint8Array>, upload: BlobUpload) {
    let sinceLook = 0;
    for await (const piece of content) {
      upload.take(piece.length);
      sinceLook += piece.length;
      if (sinceLook >= STEP) {
        await this.#mustHaveRoom(agentId, STEP);
        sinceLook = 0;
      }
      yield piece;
    }
  }

  async #mustHaveRoom(agentId: AgentId, bytes: number): Promise<void> {
    const { dir, freeSpace: free = freeSpace } = this.#options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    if ((await free(dir)) < bytes) throw NoRoomForBlobs({ agent: agentId });
  }

  /** Counts what was there before the Director started. The Director's own blobs, which are for agents, count as theirs. */
  async count(): Promise<void> {
    const { dir, quota } = this.#options;
    for (const agentId of (await ifThere(readdir(dir))) ?? [])
      for (const name of (await ifThere(readdir(join(dir, agentId)))) ?? []) {
        const path = join(dir, agentId, name);
        const found = await ifThere(stat(path));
        if (name.endsWith(HALF)) await rm(path, { force: true });
        else if (found?.isFile()) quota.found(agentId as AgentId, name, found.size);
      }
  }

  async #write(
    agentId: AgentId,
    id: string,
    content: AsyncIterable<Uint8Array>,
    most: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const path = this.#pathOf(agentId, id);
    await mkdir(this.#dirOf(agentId), { recursive: true, mode: 0o700 });
    const half = `${path}.${this.#options.random.hex(4)}${HALF}`;
    let size = 0;
    let tooLarge = false;
    const counted = new Transform({
      transform(piece: Uint8Array, _, done) {
        size += piece.length;
        tooLarge = size > most;
        done(tooLarge ? new Error("the blob is too large") : null, piece);
      },
    });
    try {
      const file = createWriteStream(half, { mode: 0o600, flush: true });
      await pipeline(content, counted, file, { signal });
      await rename(half, path);
      return true;
    } catch (error) {
      await rm(half, { force: true });
      signal?.throwIfAborted();
      if (tooLarge) return false;
      throw error;
    }
  }

  async get<T>(
    agentId: AgentId,
    id: string,
    take: (content: AsyncIterable<Uint8Array>) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const found = await this.open(agentId, id);
    if (found === undefined)
      throw new AgentRefused(`agent ${agentId} says that it made the blob ${id}, and has put none there`);
    const content = found.content();
    try {
      signal?.throwIfAborted();
      return await take(content);
    } finally {
      content.destroy();
    }
  }

  async open(agentId: AgentId, id: string) {
    const path = this.#pathOf(agentId, id);
    const found = await ifThere(stat(path));
    return found?.isFile() ? { size: found.size, content: () => createReadStream(path) } : undefined;
  }

  async remove(agentId: AgentId, id: string): Promise<void> {
    await rm(this.#pathOf(agentId, id), { force: true });
    this.#options.quota.forget(agentId, id);
  }

  /** Removes what is of agents that are gone, and what is old. */
  async sweep(isThere: (agentId: string) => boolean): Promise<void> {
    const { dir, clock, quota } = this.#options;
    for (const agentId of (await ifThere(readdir(dir))) ?? []) {
      if (!isThere(agentId)) {
        await rm(join(dir, agentId), { recursive: true, force: true });
        quota.forgetAgent(agentId as AgentId);
        continue;
      }
      for (const name of (await ifThere(readdir(join(dir, agentId)))) ?? []) {
        const path = join(dir, agentId, name);
        const found = await ifThere(stat(path));
        if (found === undefined || clock.now() - found.mtimeMs <= KEEP_MS) continue;
        await rm(path, { force: true });
        quota.forget(agentId as AgentId, name);
      }
    }
  }

  #dirOf(agentId: AgentId): string {
    if (!AGENT_ID.test(agentId)) throw new Error("bug: an agent id that cannot be the name of a directory");
    return join(this.#options.dir, agentId);
  }

  #pathOf(agentId: AgentId, id: string): string {
    if (!isBlobId(id)) throw new AgentRefused(`agent ${agentId} names a blob that cannot be one`);
    return join(this.#dirOf(agentId), id);
  }
}

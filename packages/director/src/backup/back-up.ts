import { constants } from "node:fs";
import { link, open, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type pg from "pg";
import { VERSION } from "../start/version.ts";
import { withClient } from "../store/embedded/probe.ts";
import { encrypted } from "./crypt.ts";
import { withDatabase } from "./database.ts";
import { blobsOf, dumpTable, openSnapshot, sequencesOf } from "./dump.ts";
import { BackupThere, BlobsGone, NothingToBackUp } from "./errors.ts";
import { contentOf, keptIn, sha256 } from "./files.ts";
import { BESIDE, DATABASE, type FileEntry, FORMAT, MANIFEST, type Manifest, STATE } from "./format.ts";

export interface BackUpOptions {
  readonly stateDir: string;
  readonly config: DirectorConfig;
  /** Files beside the state directory that belong to it, by the name they get. */
  readonly beside: Readonly<Record<string, string>>;
  readonly to: string;
  readonly passphrase: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Taken {
  readonly manifest: Manifest;
  readonly size: number;
}

const TRIES = 3;

/** Writes all that a Director needs to go on elsewhere, of one moment, into one file. The Director may run meanwhile. */
export async function backUp(options: BackUpOptions): Promise<Taken> {
  const { stateDir, to } = options;
  if (!(await exists(join(stateDir, "secrets.key")))) throw NothingToBackUp({ dir: stateDir });
  if (await exists(to)) throw BackupThere({ path: to });
  return await withDatabase(options, (connection) =>
    withClient(connection, async (client) => {
      for (let at = 1; at <= TRIES; at++) {
        const taken = await attempt(client, options);
        if (taken !== undefined) return taken;
      }
      throw BlobsGone({ tries: TRIES });
    }),
  );
}

/** Undefined: a blob that its rows name was deleted before it was read. */
async function attempt(client: pg.ClientBase, options: BackUpOptions): Promise<Taken | undefined> {
  const { to, random, clock, passphrase } = options;
  const half = join(dirname(resolve(to)), `.${basename(to)}.${random.hex(6)}.tmp`);
  let manifest: Manifest | undefined;
  const file = await open(half, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const entries = entriesOf(client, options, (made) => {
      manifest = made;
    });
    const tar = tarBytes(entries, Math.floor(clock.now() / 1000));
    const zipped = Readable.from(tar, { objectMode: false }).pipe(createGzip({ level: 1 }));
    const bytes = passphrase === undefined ? zipped : encrypted(zipped, passphrase, random);
    for await (const piece of bytes) await file.writeFile(piece as Uint8Array);
    await file.sync();
    if (manifest === undefined) return undefined;
    // Unlike a rename it replaces nothing.
    await link(half, to).catch((cause: unknown) => {
      throw systemCode(cause) === "EEXIST" ? BackupThere({ path: to }, { cause }) : cause;
    });
    await syncDirectory(dirname(resolve(to)));
    return { manifest, size: (await stat(to)).size };
  } finally {
    await file.close();
    await rm(half, { force: true });
    await client.query("rollback").catch(() => undefined);
  }
}

async function* entriesOf(
  client: pg.ClientBase,
  { stateDir, beside, random }: BackUpOptions,
  done: (manifest: Manifest) => void,
): AsyncGenerator<TarInput> {
  const files: FileEntry[] = [];
  const entry = (path: string, mode: number, bytes: Buffer): TarInput => {
    files.push({ path, mode, size: bytes.length, sha256: sha256(bytes) });
    return { type: "text", name: path, mode, text: bytes };
  };
  const snapshot = await openSnapshot(client);
  const tables: { name: string; rows: number }[] = [];
  for (const table of snapshot.tables) {
    let count = 0;
    let number = 0;
    for await (const rows of dumpTable(client, table)) {
      number += 1;
      count += rows.rows.length;
      const name = `${DATABASE}${table.name}/${String(number).padStart(6, "0")}.json`;
      yield entry(name, 0o600, Buffer.from(JSON.stringify(rows)));
    }
    tables.push({ name: table.name, rows: count });
  }
  const named = new Set(await blobsOf(client, snapshot.tables));
  const sequences = await sequencesOf(client);

  // After the snapshot: what its rows name was there before them.
  const { directories, files: paths } = await keptIn(stateDir);
  const all = [
    ...paths.map((path) => [`${STATE}${path}`, join(stateDir, path)] as const),
    ...Object.entries(beside).map(([name, path]) => [`${BESIDE}${name}`, path] as const),
  ];
  for (const [name, path] of all) {
    const content = await contentOf(path);
    if (content === undefined) continue;
    const { bytes, ...about } = content;
    files.push({ path: name, ...about });
    yield {
      name,
      mode: about.mode,
      ...(bytes === undefined ? { type: "file", path } : { type: "text", text: bytes }),
    };
    if (name.startsWith(`${STATE}blobs/`)) named.delete(basename(name));
  }
  if (named.size > 0) return;
  const manifest: Manifest = {
    format: FORMAT,
    id: random.uuid(),
    taken_at: snapshot.takenAt,
    version: VERSION,
    migration: snapshot.migration,
    director: { uuid: snapshot.directorUuid },
    tables,
    sequences,
    directories: [...directories],
    files,
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  yield { type: "text", name: MANIFEST, mode: 0o600, text };
  done(manifest);
}

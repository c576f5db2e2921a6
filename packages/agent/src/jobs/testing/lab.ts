import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import type { AgentSettings } from "@slipway/protocol/settings/agent-settings";
import type { ActionCall } from "../../actions/action.ts";
import { localBlobs } from "../../blobs/local-blobs.ts";
import { silentLog } from "../../log.ts";
import { type Paths, pathsUnder } from "../../paths.ts";
import type { AgentServices } from "../../services.ts";
import type { BlobstoreSettings } from "../../settings/effective.ts";
import { fileSpecStore } from "../../state/spec-store.ts";
import { idleSupervisor } from "../../supervisor/testing/idle-supervisor.ts";

export const sha1 = (content: Uint8Array | string): string =>
  createHash("sha1").update(content).digest("hex");

/** Returns the services that apply and compile need, with real files below one directory. */
export async function labServices(base: string, blobstore?: BlobstoreSettings): Promise<AgentServices> {
  const paths = pathsUnder(base, join(base, "root"));
  await makeBase(paths);
  const tools = { paths, exec: systemExec, clock: systemClock, random: systemRandom, log: silentLog };
  const settings = {
    agent_id: "agent-1",
    networks: { private: { type: "manual", ip: "10.0.0.5", netmask: "255.0.0.0" } },
  };
  return {
    ...tools,
    blobs: localBlobs({ ...tools, settings: () => blobstore }),
    spec: fileSpecStore(paths.spec, tools),
    supervisor: idleSupervisor,
    settings: { current: () => settings as unknown as AgentSettings },
  } as unknown as AgentServices;
}

async function makeBase(paths: Paths): Promise<void> {
  for (const directory of [
    ...[paths.boshDir, paths.dataJobs, paths.dataPackages, paths.jobs, paths.packages, paths.dataTmp],
    ...[paths.sysLog, paths.sysRun, paths.blobs, paths.sensitiveBlobs],
  ])
    await mkdir(directory, { recursive: true });
}

export const callOf = (services: AgentServices, signal = new AbortController().signal): ActionCall => ({
  services,
  protocol: 3,
  signal,
});

/** Files by name; a name with `>` is a link, one that ends in `/` a directory, one that begins with `!` a program. */
export async function archiveOf(
  files: Readonly<Record<string, string>>,
  { gzip = true }: { readonly gzip?: boolean } = {},
): Promise<Buffer> {
  const entries = Object.entries(files).map(([key, text]): TarInput => {
    if (key.includes(">")) {
      const [name = "", to = ""] = key.split(">");
      return { type: "symlink", name, mode: 0o777, to };
    }
    if (key.endsWith("/")) return { type: "directory", name: key.slice(0, -1), mode: 0o755 };
    const program = key.startsWith("!");
    return { type: "text", name: program ? key.slice(1) : key, mode: program ? 0o755 : 0o644, text };
  });
  const bytes = await buffer(tarBytes(entries, 1_500_000_000));
  return gzip ? gzipSync(bytes) : bytes;
}

/** Returns a spec whose blobs are uploaded: one archive for all jobs, and one per package. */
export async function specOf(
  services: AgentServices,
  made: {
    readonly jobs: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly packages?: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly prefix?: string;
    readonly hash?: string;
  },
): Promise<ApplySpec> {
  const files: Record<string, string> = {};
  for (const [job, own] of Object.entries(made.jobs))
    for (const [name, text] of Object.entries(own)) files[`${made.prefix ?? ""}${job}/${name}`] = text;
  const templates = await archiveOf(files);
  const archive = { blobstore_id: `templates-${sha1(templates)}`, sha1: sha1(templates) };
  await services.blobs.write("sensitive", archive.blobstore_id, templates);
  const packages: Record<string, Record<string, string>> = {};
  for (const [name, own] of Object.entries(made.packages ?? {})) {
    const content = await archiveOf(own);
    const digest = sha1(content);
    packages[name] = { name, version: "1.1", sha1: digest, blobstore_id: `${name}-${digest}` };
    await services.blobs.write("blobs", `${name}-${digest}`, content);
  }
  return {
    deployment: "shop",
    name: "api",
    index: 0,
    id: "6f2f",
    az: "z1",
    networks: { private: { ip: "10.0.0.5" } },
    configuration_hash: made.hash ?? "hash-1",
    job: { name: "api", templates: Object.keys(made.jobs).map((name) => ({ name, version: "v1" })) },
    packages,
    rendered_templates_archive: archive,
  };
}

/** Every file, directory and link below, with modes and contents; whatever has a random name is not hidden. */
export function treeOf(directory: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (path: string, name: string): void => {
    const facts = lstatSync(path);
    const mode = (facts.mode & 0o7777).toString(8);
    if (facts.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`;
    else if (facts.isDirectory()) {
      found[`${name}/`] = mode;
      for (const entry of readdirSync(path).sort())
        walk(join(path, entry), name === "" ? entry : `${name}/${entry}`);
    } else found[name] = `${mode} ${readFileSync(path, "utf8")}`;
  };
  walk(directory, "");
  return found;
}

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import type { SimVm, SimWorld } from "./world.ts";

/**
 * Blobs, packages and jobs in agents of the world. As in real ones, content that does not match its digest is refused.
 */

/** Content of a blob that an agent made. */
export const madeBlob = (agentId: string, id: string): Buffer => gzipSync(`blob ${id} of agent ${agentId}`);

export const sha256 = (content: Uint8Array): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

export const putBlob = (_: SimWorld, { agent }: SimVm, [id, digest]: readonly unknown[]): string => {
  agent.blobs.set(String(id), String(digest));
  return "put";
};

interface Package {
  readonly name: string;
  readonly version: string;
  readonly sha1: string;
  readonly blobstore_id: string;
}

export const compilePackage = (world: SimWorld, vm: SimVm, args: readonly unknown[]): unknown => {
  const [blobId, digest, name, version, dependencies] = args;
  const all = Object.values(dependencies as Readonly<Record<string, Package>>);
  takeBlob(vm, { name: String(name), sha1: String(digest), blobstore_id: String(blobId) });
  for (const one of all) takeBlob(vm, one);
  world.compilations.push(`${String(name)}/${String(version)}`);
  if (world.uncompilable.has(String(name)))
    throw new Error(`Compiling package ${String(name)}: packaging ended with 1: cc: not found`);
  const made = `compiled-${String(name)}`;
  return { result: { blobstore_id: made, sha1: sha256(madeBlob(vm.agentId, made)) } };
};

export const apply = (_: SimWorld, vm: SimVm, [given]: readonly unknown[]): string => {
  unpack(vm, given as JsonObject);
  vm.agent.unpacked.clear();
  vm.agent.spec = given as JsonObject;
  return "applied";
};

export const prepare = (_: SimWorld, vm: SimVm, [given]: readonly unknown[]): string => {
  for (const one of unpack(vm, given as JsonObject)) vm.agent.unpacked.add(idOf(one));
  return "prepared";
};

/** Takes what is neither installed nor unpacked. The archive of rendered jobs is removed then, as real agents do it. */
function unpack(vm: SimVm, spec: JsonObject): readonly Package[] {
  const { agent } = vm;
  const there = new Set([...packagesOf(agent.spec as JsonObject).map(idOf), ...agent.unpacked]);
  const missing = packagesOf(spec).filter((one) => !there.has(idOf(one)));
  for (const one of missing) takeBlob(vm, one);
  const { rendered_templates_archive: given } = spec;
  if (!isObject(given) || given.blobstore_id === "") return missing;
  const archive = { ...(given as unknown as Package), name: "rendered templates" };
  if (!there.has(idOf(archive))) takeBlob(vm, archive);
  agent.blobs.delete(archive.blobstore_id);
  return [...missing, archive];
}

const idOf = ({ blobstore_id: id, sha1 }: Package): string => `${id} ${sha1}`;

const packagesOf = ({ packages }: JsonObject): readonly Package[] =>
  isObject(packages) ? Object.values(packages as unknown as Readonly<Record<string, Package>>) : [];

function takeBlob(
  { agent }: SimVm,
  { name, blobstore_id: id, sha1: digest }: Pick<Package, "name" | "blobstore_id" | "sha1">,
): void {
  const found = agent.blobs.get(id);
  if (found === undefined) throw new Error(`there is no blob ${id} for ${name}`);
  if (found !== digest)
    throw new Error(`blob ${id} for ${name}: expected digest ${digest}, the content has ${found}`);
}

import { type Agent, AgentRefused, AgentSilent } from "@slipway/engine/agents/agent";
import { keyText, type NeededPackage } from "@slipway/engine/compile/needed";
import { nextBest } from "@slipway/engine/compile/next-best";
import type { CompiledPackage } from "@slipway/engine/releases/model";
import { DeadlineExceeded, withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import {
  type CompiledFrom,
  compiledFrom,
  findCompiled,
  saveCompiled,
} from "../../store/compiled-packages.ts";
import type { TaskContext } from "../../tasks/task.ts";
import type { OperationContext } from "../operation.ts";
import { PackageNotCompiled, PackagesWithoutSource } from "./errors.ts";
import { exportedPackages } from "./exported-packages.ts";
import { inOrderOfNeed } from "./in-order-of-need.ts";
import { pullBlob, pushBlob } from "./moved-blobs.ts";
import { namesLike, releaseAndStemcell } from "./names.ts";
import type { Workers } from "./workers.ts";

/** Compiled packages, by the text of their key. */
export type Compiled = ReadonlyMap<string, CompiledPackage>;

/** Time to wait for another deployment that compiles the same package; its result is used. */
const JOIN_MS = 24 * 3_600_000;
/** Longer than any package takes: an agent that answers and never ends is not waited for any longer. */
const COMPILE_MS = 24 * 3_600_000;

/** Returns those that are compiled already. Throws at once for those that can never be. */
export async function compiledBefore(
  needed: readonly NeededPackage[],
  tools: OperationContext,
): Promise<Compiled> {
  const free = needed.filter(({ exportedFrom }) => exportedFrom.length === 0);
  const found = await findCompiled(
    tools.db,
    free.map(({ key }) => key),
  );
  const compiled = new Map(found.map((one) => [keyText(one), one]));
  const missing = (one: NeededPackage) => one.package.source === undefined && !compiled.has(keyText(one.key));
  const without = free.filter(missing);
  const others = await compiledFrom(
    tools.db,
    without.map((one) => one.package.id),
  );
  for (const one of without) {
    const next = nextBest(one.key, others);
    if (next !== undefined) compiled.set(keyText(one.key), next);
  }
  refuseLost(free.filter(missing));
  for (const [key, one] of await exportedPackages(needed, tools)) compiled.set(key, one);
  return compiled;
}

function refuseLost(lost: readonly NeededPackage[]): void {
  const [first] = lost;
  if (first === undefined) return;
  throw PackagesWithoutSource({ ...releaseAndStemcell(first), packages: namesLike(first, lost) });
}

/** Compiles what is missing, each package when all it needs is there, on as many VMs as the cloud config allows. */
export async function compilePackages(
  needed: readonly NeededPackage[],
  before: Compiled,
  workers: Workers,
  task: TaskContext,
  tools: OperationContext,
): Promise<Compiled> {
  const compiled = new Map(before);
  const todo = needed.filter(({ key }) => !compiled.has(keyText(key)));
  if (todo.length === 0) return compiled;
  const stage = task.stage("Compiling packages", [], todo.length);
  const ready = (one: NeededPackage) => one.dependencies.every(({ key }) => compiled.has(keyText(key)));
  await workers.during(() =>
    inOrderOfNeed(todo, workers.most, ready, async (one) => {
      const made = await stage.step(`${one.package.name}/${one.package.fingerprint}`, () =>
        compiledOnce(one, compiled, workers, task, tools),
      );
      compiled.set(keyText(one.key), made);
    }),
  );
  return compiled;
}

async function compiledOnce(
  one: NeededPackage,
  compiled: Compiled,
  workers: Workers,
  task: TaskContext,
  tools: OperationContext,
): Promise<CompiledPackage> {
  return await task.withLock(`lock:compile:${keyText(one.key)}`, JOIN_MS, async () => {
    const [there] = await findCompiled(tools.db, [one.key]);
    if (there !== undefined) return there;
    return await workers.use(one.stemcell, one.package.name, async (agent) => {
      const { from, ...made } = await compileOn(agent, one, compiled, tools, task);
      return await task.write((db) => saveCompiled(db, one.key, made, from));
    });
  });
}

async function compileOn(
  agent: Agent,
  needed: NeededPackage,
  compiled: Compiled,
  tools: OperationContext,
  { id: taskId, signal }: TaskContext,
): Promise<Pick<CompiledPackage, "blobId" | "digest"> & { readonly from: CompiledFrom }> {
  const { source, name, version } = needed.package;
  if (source === undefined) throw new Error(`bug: ${name} has no source and is to be compiled`);
  const needs = needed.dependencies.map((one) => {
    const found = compiled.get(keyText(one.key));
    if (found === undefined) throw new Error(`bug: ${one.package.name} is not compiled yet`);
    return { ...found, name: one.package.name, version: `${one.package.version}.${found.build}` };
  });
  try {
    for (const one of [{ ...source, name }, ...needs]) await pushBlob(agent, one, tools, signal);
    const made = await withDeadline("compiling it", COMPILE_MS, tools.clock, signal, (within) =>
      agent.compilePackage({ ...source, name, version }, needs, { signal: within }),
    );
    const stored = await pullBlob(agent, { ...made, name }, taskId, tools, signal);
    await agent.removeBlob(made.blobId, { signal }).catch(() => undefined);
    const from = { source: source.blobId, dependencies: needs.map((one) => one.blobId) };
    return { blobId: stored.id, digest: stored.digest, from };
  } catch (error) {
    signal.throwIfAborted();
    if (!ofAgent(error)) throw error;
    const what = { package: name, ...releaseAndStemcell(needed), why: messageTrail(error) };
    throw PackageNotCompiled(what, { cause: error });
  }
}

const ofAgent = (error: unknown): boolean =>
  error instanceof AgentRefused || error instanceof AgentSilent || DeadlineExceeded.is(error);

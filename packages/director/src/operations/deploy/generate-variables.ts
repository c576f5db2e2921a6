import { placeholdersIn } from "@slipway/engine/documents/placeholders";
import type { Tree } from "@slipway/engine/documents/tree";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import { type LinkedName, withLinkedNames } from "@slipway/engine/variables/consumes";
import type { Definition } from "@slipway/engine/variables/definitions";
import { BadVariables } from "@slipway/engine/variables/errors";
import { absoluteName, referenceOf, type Scope } from "@slipway/engine/variables/names";
import { type Get, resolveVariables } from "@slipway/engine/variables/resolve";
import { messageTrail } from "@slipway/kernel/errors";
import type { VariableSet } from "../../store/variable-sets.ts";
import type { TaskContext } from "../../tasks/task.ts";
import type { NameOfLink, VariablesRequest } from "./variables.ts";

export interface Generation {
  readonly request: VariablesRequest;
  readonly scope: Scope;
  readonly server: ConfigServer;
  readonly get: Get;
  /** Ids by name, of this deploy. */
  readonly pins: ReadonlyMap<string, string>;
  readonly keep: (name: string, id: string, type: string) => Promise<void>;
  /** Variables of the last deploy that succeeded. */
  readonly before: VariableSet | undefined;
  readonly task: TaskContext;
  /** Names of the links that certificates consume. */
  readonly nameOf?: NameOfLink;
}

/** Generates each variable after those that its options need. What this task has pinned in an earlier run is left as it is. */
export async function generateAll(definitions: readonly Definition[], generation: Generation): Promise<void> {
  const { pins, scope } = generation;
  const byName = new Map(definitions.map((one) => [one.name, one]));
  const done = new Set<string>();
  const generate = async (definition: Definition, open: readonly string[]): Promise<void> => {
    const { name } = definition;
    if (done.has(name)) return;
    if (open.includes(name))
      throw BadVariables({ why: `These variables need each other: ${[...open, name].join(" -> ")}` });
    for (const needed of needsOf(definition, scope)) {
      const other = byName.get(needed);
      if (other !== undefined) await generate(other, [...open, name]);
    }
    done.add(name);
    if (!pins.has(name)) await generateOne(definition, generation);
  };
  for (const definition of definitions) await generate(definition, []);
}

/** Splits off the variables that take names from links, and those that need one of them: they come later. */
export function splitByLinks(definitions: readonly Definition[], scope: Scope) {
  const later = new Set(definitions.filter(({ consumes }) => consumes.length > 0).map(({ name }) => name));
  for (let before = -1; before < later.size && later.size > 0; ) {
    before = later.size;
    for (const one of definitions)
      if (needsOf(one, scope).some((name) => later.has(name))) later.add(one.name);
  }
  return {
    now: definitions.filter(({ name }) => !later.has(name)),
    later: definitions.filter(({ name }) => later.has(name)),
  };
}

function needsOf({ options, type }: Definition, scope: Scope): readonly string[] {
  const used = [...placeholdersIn(options)].map((written) => referenceOf(written, scope).name);
  return type === "certificate" && typeof options.ca === "string"
    ? [...used, absoluteName(options.ca, scope)]
    : used;
}

async function generateOne(definition: Definition, generation: Generation): Promise<void> {
  const { request, scope, server, get, keep, before, task, nameOf } = generation;
  const { name, type, strategy } = definition;
  const event = {
    action: "create",
    objectType: "variable",
    objectName: name,
    deployment: request.deployment,
  };
  try {
    const written = (await resolveVariables(definition.options, { scope, get })) as Tree;
    const options: Record<string, unknown> = { ...withLinkedNames(written, linkedNames(definition, nameOf)) };
    if (type === "certificate" && typeof options.ca === "string")
      options.ca = absoluteName(options.ca, scope);
    const old = strategy === "on-deploy" ? undefined : before?.entries.get(name);
    const latest = old === undefined || request.forceLatest || (await request.stemcellsChanged());
    const id = latest
      ? await server.generate(
          {
            name,
            type,
            options,
            // A dry run may make what it needs to know, never change what others use.
            mode: request.dryRun ? "no-overwrite" : definition.mode,
            requestId: `task-${task.id}`,
          },
          task.signal,
        )
      : old;
    await keep(name, id, type);
    await task.audit({
      ...event,
      context: { update_strategy: strategy, latest_version: latest, name, id },
    });
  } catch (error) {
    task.signal.throwIfAborted();
    await task.audit({ ...event, error: messageTrail(error) });
    throw error;
  }
}

const linkedNames = (
  { written, consumes }: Definition,
  nameOf: NameOfLink = () => undefined,
): readonly { readonly linked: LinkedName; readonly name: string }[] =>
  consumes.flatMap((linked) => {
    const name = nameOf(written, linked.as);
    return name === undefined ? [] : [{ linked, name }];
  });

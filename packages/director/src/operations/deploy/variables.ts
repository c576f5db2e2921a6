import { placeholdersIn, type Within } from "@slipway/engine/documents/placeholders";
import type { Tree } from "@slipway/engine/documents/tree";
import type { LinkConsumer } from "@slipway/engine/jobs/links/model";
import { variableConsumers } from "@slipway/engine/jobs/links/of-variables";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import { type LinkedName, withLinkedNames } from "@slipway/engine/variables/consumes";
import { type Definition, definitionsOf } from "@slipway/engine/variables/definitions";
import { BadVariables, UsedBeforeResolved, VariableMissing } from "@slipway/engine/variables/errors";
import { absoluteName, referenceOf, type Scope } from "@slipway/engine/variables/names";
import {
  isAllCloudProperties,
  isEnv,
  isResolvedEagerly,
  isResolvedEagerlyInDeploy,
} from "@slipway/engine/variables/parts";
import { type Documents, pinDocuments } from "@slipway/engine/variables/pin-documents";
import {
  findAll,
  type Get,
  refuseRelativeNames,
  resolveVariables,
  type Variable,
} from "@slipway/engine/variables/resolve";
import { messageTrail, SlipwayError } from "@slipway/kernel/errors";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { teamsOfDeployment } from "../../store/deployments.ts";
import type { Db } from "../../store/schema.ts";
import {
  deployedVariableSet,
  ensureVariableSet,
  type PinnedVariable,
  pinVariable,
  useVariableSet,
  type VariableSet,
} from "../../store/variable-sets.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { FetchFailed } from "../../variables/errors.ts";
import { configServerOf } from "../config-server-of.ts";
import { NotVersioned, VariableOfAnotherTeam } from "../errors.ts";
import type { OperationContext } from "../operation.ts";

/** A deploy's documents, as they are written. */
interface RawDocuments {
  readonly manifest: unknown;
  readonly cloudConfigs: readonly unknown[];
  readonly runtimeConfigs: readonly unknown[];
}

export interface VariablesRequest {
  readonly deployment: string;
  /** `new`: a deploy takes the newest. `deployed`: what is done to what is deployed uses what it was deployed with. */
  readonly versions: "new" | "deployed";
  readonly dryRun: boolean;
  /** True to include variables that wait for another stemcell. */
  readonly forceLatest: boolean;
  readonly stemcellsChanged: () => Promise<boolean>;
}

/** Returns the name of all instances behind a link, by the variable that consumes it and the name it has there. */
export type NameOfLink = (variable: string, as: string) => string | undefined;

/** The variables of one deploy. */
export interface DeployVariables {
  /** Documents with the values of everything that must be known to plan. */
  readonly documents: RawDocuments;
  /** Variables that consume links. */
  readonly linkConsumers: readonly LinkConsumer[];
  /** True if some are generated once the links are known: before `pinned` and `late`. */
  readonly waitsForLinks: boolean;
  generateLinked(nameOf: NameOfLink): Promise<void>;
  /** Resolves by pins what only the CPI is to see. */
  pinned(documents: Documents): Promise<Documents>;
  /** Values for what is rendered: properties of jobs and links. They belong in no record. */
  late<T extends JsonObject>(value: T): Promise<T>;
  /**
   * The same for what another deployment shares, with its own variables: a deploy takes the versions that the other one was
   * last deployed with and pins them, what is done to what is deployed takes those.
   */
  lateOf<T extends JsonObject>(deployment: string, value: T): Promise<T>;
  /**
   * Looks up what is not rendered now, so that it has the versions of this deploy later: links that others consume, errands,
   * groups without instances. What is missing fails the deploy. Does nothing unless versions are new.
   */
  pinForLater(value: JsonObject): Promise<void>;
  /** The deploy succeeded. */
  deployed(db: Db): Promise<void>;
}

/** Generates what is defined, and resolves what is used. Run again by the same task, it gives the same versions. */
export async function deploymentVariables(
  request: VariablesRequest,
  documents: RawDocuments,
  task: TaskContext,
  tools: OperationContext,
): Promise<DeployVariables> {
  const scope: Scope = { director: tools.settings.directorName, deployment: request.deployment };
  const server = variablesOfTeams(configServerOf(tools, task), scope, tools.db);
  const before = await deployedVariableSet(tools.db, request.deployment);
  const fresh = request.versions === "new";
  const set =
    fresh && !request.dryRun
      ? await task.write((db) => ensureVariableSet(db, request.deployment, task.id))
      : undefined;
  const pins = new Map(fresh ? set?.entries : before?.entries);
  const keep = async (name: string, id: string, type?: string): Promise<void> => {
    pins.set(name, id);
    if (set !== undefined) await task.write((db) => pinVariable(db, set.id, { name, id, type }));
  };
  const get = getter(server, { pins, keep, fresh, deployment: request.deployment, signal: task.signal });

  const definitions = definitionsOf(documents, scope);
  const generation = { request, scope, server, get, pins, keep, before, task };
  const { now, later } = splitByLinks(definitions, scope);
  const waiting = new Set(fresh ? later.map(({ name }) => name) : []);
  if (fresh) await generateAll(now, generation);
  await refuseRelativeNames(documents.cloudConfigs, ([, ...place]) => isResolvedEagerly("cloud")(place));
  const resolved = await resolveVariables(documents, {
    scope,
    get: (name) => (waiting.has(name) ? Promise.resolve(UsedBeforeResolved({ name })) : get(name)),
    within: isResolvedEagerlyInDeploy,
    byKey: isAllCloudProperties,
    // What waits may be used there.
    ...(waiting.size === 0 && { needed: withEnv }),
  });
  return {
    documents: resolved as RawDocuments,
    linkConsumers: variableConsumers(definitions),
    waitsForLinks: waiting.size > 0,
    generateLinked: (nameOf) => generateAll(later, { ...generation, nameOf }),
    pinned: (parsed) => pinDocuments(parsed, { scope, get }),
    late: async (value) => (await resolveVariables(value, { scope, get })) as typeof value,
    pinForLater: async (value) => {
      if (fresh) await findAll(value, { scope, get });
    },
    lateOf: othersVariables(
      server,
      {
        provided: (fresh ? set : before)?.provided,
        keep: set && ((entry) => task.write((db) => pinVariable(db, set.id, entry))),
      },
      task,
      tools,
    ),
    deployed: async (db) => {
      if (set !== undefined) await useVariableSet(db, set.id);
    },
  };
}

interface ProvidedPinning {
  /** Versions that the deployment's own set has, by provider. */
  readonly provided: VariableSet["provided"] | undefined;
  /** Undefined: nothing is pinned. */
  readonly keep: ((entry: PinnedVariable) => Promise<void>) | undefined;
}

/** Resolves variables of other deployments. Each deployment is looked up once. */
function othersVariables(
  server: ConfigServer,
  { provided, keep }: ProvidedPinning,
  { signal }: TaskContext,
  { db, settings }: OperationContext,
): DeployVariables["lateOf"] {
  const known = new Map<string, Promise<Get>>();
  const getOf = async (deployment: string): Promise<Get> => {
    const ours = provided?.get(deployment);
    // A set of before may lack what the provider has begun to share since.
    const pins = new Map([...((await deployedVariableSet(db, deployment))?.entries ?? []), ...(ours ?? [])]);
    const get = getter(server, { pins, keep: () => Promise.resolve(), fresh: false, deployment, signal });
    if (keep === undefined) return get;
    const kept = new Set(ours?.keys());
    return async (name) => {
      const found = await get(name);
      if (found instanceof SlipwayError || kept.has(name)) return found;
      kept.add(name);
      await keep({ name, id: found.id, provider: deployment });
      return found;
    };
  };
  return async (deployment, value) => {
    const get = known.get(deployment) ?? getOf(deployment);
    known.set(deployment, get);
    const scope: Scope = { director: settings.directorName, deployment };
    return (await resolveVariables(value, { scope, get: await get })) as typeof value;
  };
}

/** Places whose missing variables are reported at once, including the env of groups. */
const withEnv: Within = (place) =>
  isResolvedEagerlyInDeploy(place) || (place[0] === "manifest" && isEnv(place.slice(1)));

interface Pinning {
  readonly pins: ReadonlyMap<string, string>;
  readonly keep: (name: string, id: string) => Promise<void>;
  /** True if variables that are not pinned yet may be. */
  readonly fresh: boolean;
  readonly deployment: string;
  readonly signal: AbortSignal;
}

/** Gets variables from the server, each version once. */
function getter(server: ConfigServer, { pins, keep, fresh, deployment, signal }: Pinning): Get {
  const known = new Map<string, Variable>();
  return async (name) => {
    const id = pins.get(name);
    const before = id === undefined ? undefined : known.get(id);
    if (before !== undefined) return before;
    if (id === undefined && !fresh) return NotVersioned({ name, deployment });
    try {
      const found =
        id === undefined ? await server.newest(name, signal) : await server.byId(id, name, signal);
      if (id === undefined) await keep(name, found.id);
      known.set(found.id, found);
      return found;
    } catch (error) {
      if (VariableMissing.is(error) || VariableOfAnotherTeam.is(error) || FetchFailed.is(error)) return error;
      throw error;
    }
  };
}

/**
 * The config server as one deployment may use it. `/DIRECTOR/DEPLOYMENT/...` belongs to that deployment: another one may
 * read or generate there only if both have a team in common, or if it is itself of no team, as administrators deploy it.
 */
function variablesOfTeams(server: ConfigServer, scope: Scope, db: Db): ConfigServer {
  const demand = async (name: string): Promise<void> => {
    const owner = ownerOf(name, scope);
    if (owner === undefined || owner === scope.deployment) return;
    const theirs = await teamsOfDeployment(db, owner);
    if (theirs === undefined) return;
    const ours = await teamsOfDeployment(db, scope.deployment);
    if (ours !== undefined && (ours.length === 0 || ours.some((team) => theirs.includes(team)))) return;
    throw VariableOfAnotherTeam({ name, owner });
  };
  return {
    newest: async (name, signal) => {
      await demand(name);
      return await server.newest(name, signal);
    },
    byId: async (id, name, signal) => {
      await demand(name);
      return await server.byId(id, name, signal);
    },
    generate: async (wanted, signal) => {
      await demand(wanted.name);
      if (typeof wanted.options.ca === "string") await demand(wanted.options.ca);
      return await server.generate(wanted, signal);
    },
  };
}

function ownerOf(name: string, { director }: Scope): string | undefined {
  const start = `/${director}/`;
  const [owner, ...rest] = name.startsWith(start) ? name.slice(start.length).split("/") : [];
  return rest.length === 0 ? undefined : owner;
}

interface Generation {
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
async function generateAll(definitions: readonly Definition[], generation: Generation): Promise<void> {
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
function splitByLinks(definitions: readonly Definition[], scope: Scope) {
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

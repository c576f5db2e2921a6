import { VariableNotGenerated } from "@slipway/engine/variables/errors";
import { CONFIG_SERVER_GENERATORS } from "@slipway/engine/variables/generate/generators";
import { checkDefinedName } from "@slipway/engine/variables/names";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { VariableChange } from "@slipway/protocol/director/variable";
import { isObject } from "@slipway/protocol/schema/json";
import { addEvent } from "../store/events.ts";
import { inTransaction } from "../store/open.ts";
import type { Db } from "../store/schema.ts";
import { deploymentsUsing } from "../store/variable-sets.ts";
import { newestCertificates, newestVariable, saveVariable, type VariableRecord } from "../store/variables.ts";
import { NoSuchVariable, NotRegenerated, VariableChanged } from "./errors.ts";

export interface ChangeTools {
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  /** Operator, for the events, which hold names only. */
  readonly user: string;
}

/** Returns the newest version, and records that the operator has read it. */
export async function readVariable(name: string, { db, user }: ChangeTools): Promise<VariableRecord> {
  const found = await newestVariable(db, name);
  if (found === undefined) throw NoSuchVariable({ name });
  await addEvent(db, { user, action: "read", objectType: "variable", objectName: name });
  return found;
}

export async function setVariable(
  name: string,
  value: unknown,
  type: string | undefined,
  tools: ChangeTools,
): Promise<VariableChange> {
  checkDefinedName(name);
  const before = await newestVariable(tools.db, name);
  const options = before?.options ?? {};
  const next = { name, type: before?.type ?? type ?? "value", options, value, before: before?.id };
  return await save([next], undefined, tools);
}

interface Next extends Pick<VariableRecord, "name" | "type" | "options" | "value"> {
  /** Id of the version that this one was made from. */
  readonly before: string | undefined;
}

/**
 * Another value by the same definition. An authority is rotated in three steps, each of which is followed by deploys: both
 * authorities are trusted, the new one signs, only the new one is trusted.
 */
export async function regenerateVariable(
  name: string,
  atOnce: boolean,
  tools: ChangeTools,
): Promise<VariableChange> {
  const found = await newestVariable(tools.db, name);
  if (found === undefined) throw NoSuchVariable({ name });
  const { ca, is_ca: isCa } = optionsOf(found);
  if (found.type !== "certificate" || isCa !== true)
    return await save([await madeAgain(found, new Map(), tools)], undefined, tools);
  const signed = await signedBy(name, tools.db);
  if (atOnce || typeof ca === "string") {
    const made = await madeAgain(found, new Map(), tools);
    return await save([made, ...(await allMadeAgain(signed, made, tools))], undefined, tools);
  }
  const { next, transitional_ca: transitional, ...value } = partsOf(found);
  const authority = (changed: object): Next => ({
    ...{ name, type: found.type, options: found.options, before: found.id },
    value: changed,
  });
  const trusting = (bundle: unknown) =>
    signed.map((one): Next => ({ ...one, value: { ...partsOf(one), ca: bundle }, before: one.id }));
  if (isObject(next)) {
    const old = String(value.certificate);
    const changed = authority({ ...next, ca: `${String(next.certificate)}${old}`, transitional_ca: old });
    return await save([changed, ...(await allMadeAgain(signed, changed, tools))], "switch", tools);
  }
  if (typeof transitional === "string") {
    const only = String(value.certificate);
    return await save([authority({ ...value, ca: only }), ...trusting(only)], "finish", tools);
  }
  const other = partsOf(await madeAgain(found, new Map(), tools));
  const { certificate, private_key } = other;
  const both = `${String(value.certificate)}${String(certificate)}`;
  const changed = { ...value, ca: both, transitional_ca: certificate, next: { certificate, private_key } };
  return await save([authority(changed), ...trusting(both)], "start", tools);
}

const partsOf = ({ value }: Pick<VariableRecord, "value">): Record<string, unknown> =>
  isObject(value) ? { ...value } : {};

const optionsOf = ({ options }: Pick<VariableRecord, "options">): Record<string, unknown> =>
  isObject(options) ? { ...options } : {};

const signedBy = async (name: string, db: Db): Promise<readonly VariableRecord[]> =>
  (await newestCertificates(db)).filter((one) => optionsOf(one).ca === name);

/**
 * Certificates of an authority that was replaced, and of the authorities among them. Definitions that changed one after the
 * other may have two authorities sign each other: each is made again once.
 */
async function allMadeAgain(
  signed: readonly VariableRecord[],
  authority: Next,
  tools: ChangeTools,
  names = new Set([authority.name]),
): Promise<readonly Next[]> {
  const made: Next[] = [];
  for (const one of signed) {
    if (names.has(one.name)) continue;
    names.add(one.name);
    const again = await madeAgain(one, new Map([[authority.name, authority.value]]), tools);
    made.push(again);
    if (optionsOf(one).is_ca === true)
      made.push(...(await allMadeAgain(await signedBy(one.name, tools.db), again, tools, names)));
  }
  return made;
}

/** `authorities` are those that are not saved yet. */
async function madeAgain(
  { id, name, type, options }: VariableRecord,
  authorities: ReadonlyMap<string, unknown>,
  { db, clock, random }: ChangeTools,
): Promise<Next> {
  const load = Object.hasOwn(CONFIG_SERVER_GENERATORS, type) ? CONFIG_SERVER_GENERATORS[type] : undefined;
  if (load === undefined) throw NotRegenerated({ name, why: `it was set, as a ${type}` });
  const { ca } = optionsOf({ options });
  const signer =
    typeof ca !== "string" ? undefined : (authorities.get(ca) ?? (await newestVariable(db, ca))?.value);
  const generate = await load();
  const value = await generate(options, {
    clock,
    random,
    lookUp: (asked) => (signer !== undefined && asked === ca ? { value: signer } : undefined),
    fail: (why, cause) => VariableNotGenerated({ name, type, why }, { cause }),
  });
  return { name, type, options, value, before: id };
}

/** All of them or none. */
async function save(
  all: readonly Next[],
  step: VariableChange["step"],
  { db, random, user }: ChangeTools,
): Promise<VariableChange> {
  const variables = await inTransaction(db, async (tx) => {
    const saved: { name: string; id: string }[] = [];
    for (const { name, type, options, value, before } of all) {
      const made = { id: random.uuid(), name, type, value, options, requestId: random.uuid() };
      const id = await saveVariable(tx, made, (newest) => newest.id !== before);
      if (id !== made.id) throw VariableChanged({ name });
      await addEvent(tx, { user, action: "update", objectType: "variable", objectName: name });
      saved.push({ name, id });
    }
    return saved;
  });
  const using = await Promise.all(variables.map(({ name }) => deploymentsUsing(db, name)));
  const deployments = [...new Set(using.flat().map(({ deployment }) => deployment))].sort();
  return { variables, deployments, ...(step !== undefined && { step }) };
}

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { ChoiceUnreadable } from "./errors.ts";
import type { Home } from "./home.ts";
import { homeUnusable } from "./unusable.ts";

const local = v.strictObject({ cpi: v.literal("local") });

/** Keys of the engine are never in it. */
const docker = v.strictObject({
  cpi: v.literal("docker"),
  /** The address of its engine. */
  host: text("host"),
  /** The directory with `ca.pem`, `cert.pem` and `key.pem`, for an engine that wants them. */
  certificates: v.optional(text("certificates")),
  /** By which the engine calls itself. */
  engine: text("engine"),
  /** The volume of its disks, no other home's. */
  volume: v.pipe(v.string(), v.regex(/^slipway-disks-[0-9a-f]{8}$/, "volume must be one of a home")),
  /** The Director's uuid, with which everything of this home on the engine is labelled; known after the first start. */
  director: v.optional(text("director")),
});

const choice = v.variant("cpi", [local, docker]);

export type DockerChoice = Readonly<v.InferOutput<typeof docker>>;
/** Which CPI makes a home's VMs: decided by its first `up`. */
export type Choice = Readonly<v.InferOutput<typeof local>> | DockerChoice;
export type CpiName = Choice["cpi"];

/** Undefined in a home that has none yet. One that is older than this file has sandboxes. */
export async function readChoice(home: Home): Promise<Choice | undefined> {
  const path = home.cpiFile;
  const unreadable = (why: string) => ChoiceUnreadable({ path, why });
  let source: string;
  try {
    source = await readFile(path, "utf8");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return isBound(home) ? { cpi: "local" } : undefined;
    if (["EACCES", "EPERM"].includes(systemCode(cause) ?? "")) throw await homeUnusable(home, cause);
    throw unreadable(messageTrail(cause));
  }
  let document: unknown;
  try {
    document = parseStrictJson(source, path);
  } catch (cause) {
    throw unreadable(messageTrail(cause));
  }
  const checked = check(choice, document, "cpi");
  if (!checked.ok) throw unreadable(checked.problems.join("; "));
  return checked.value;
}

/** Once there is a Director's state there may be VMs, and the choice stands. */
export const isBound = (home: Home): boolean => existsSync(home.director);

export const writeChoice = (home: Home, made: Choice): Promise<void> =>
  writeFileAtomic(home.cpiFile, `${JSON.stringify(made, null, 2)}\n`);

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { ChoiceUnreadable } from "../home/errors.ts";
import type { Home } from "../home/home.ts";
import { homeUnusable } from "../home/unusable-home.ts";
import type { Backend, BackendTools, ChosenCpi } from "./descriptor.ts";
import { CPIS, cpiNamed, DEFAULT_CPI } from "./table.ts";

const named = open({ cpi: v.picklist(CPIS.map(({ name }) => name)) });

/** Returns undefined for a home without a choice yet. A home that is older than the file has the default CPI. */
export async function readChoice(home: Home): Promise<ChosenCpi | undefined> {
  const path = home.cpiFile;
  const unreadable = (why: string) => ChoiceUnreadable({ path, why });
  let source: string;
  try {
    source = await readFile(path, "utf8");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return isBound(home) ? { cpi: DEFAULT_CPI } : undefined;
    if (["EACCES", "EPERM"].includes(systemCode(cause) ?? "")) throw await homeUnusable(home, cause);
    throw unreadable(messageTrail(cause));
  }
  let document: unknown;
  try {
    document = parseStrictJson(source, path);
  } catch (cause) {
    throw unreadable(messageTrail(cause));
  }
  const known = check(named, document, "cpi");
  if (!known.ok) throw unreadable(known.problems.join("; "));
  const checked = check(cpiNamed(known.value.cpi).choice, document, "cpi");
  if (!checked.ok) throw unreadable(checked.problems.join("; "));
  return checked.value;
}

/** Tells whether the choice stands: once there is a Director's state, there may be VMs. */
export const isBound = (home: Home): boolean => existsSync(home.director);

export const writeChoice = (home: Home, made: ChosenCpi): Promise<void> =>
  writeFileAtomic(home.cpiFile, `${JSON.stringify(made, null, 2)}\n`);

/** Opens the CPI that a home has, or would have by default. */
export async function backendOf(tools: BackendTools): Promise<Backend> {
  return await backendFor((await readChoice(tools.home)) ?? { cpi: DEFAULT_CPI }, tools);
}

export const backendFor = (choice: ChosenCpi, tools: BackendTools): Promise<Backend> =>
  cpiNamed(choice.cpi).backend(choice, tools);

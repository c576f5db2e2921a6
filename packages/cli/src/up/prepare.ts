import { hasVolume } from "@slipway/cpi-docker/disks/volume";
import type { Engine } from "@slipway/cpi-docker/engine/engine";
import type { Random } from "@slipway/kernel/random";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { type Choice, type DockerChoice, isBound, readChoice, writeChoice } from "../home/choice.ts";
import type { Home } from "../home/home.ts";
import type { Tools } from "../tools.ts";
import { type Asked, type CpiSelection, selectCpi } from "./cpi-selection.ts";
import { openEngine } from "./engine.ts";
import { OtherCpi, OtherEngine } from "./errors.ts";
import { warnWithoutNamespaces } from "./sandboxes.ts";
import { WORDS } from "./words.ts";

/** A selected CPI that can run here. */
export type Prepared = { readonly cpi: "local" } | Omit<DockerChoice, "volume" | "director">;

export const readSelection = async (
  asked: Asked,
  { home, env }: Pick<Tools, "home" | "env">,
): Promise<CpiSelection> =>
  selectCpi(asked, env, { dir: home.dir, remembered: await readChoice(home), bound: isBound(home) });

/** Asked before anything is made: are VMs to be had? Sandboxes are only missed: a Director is of use without them. */
export async function prepare(
  selection: CpiSelection,
  { home, ui, clock }: Pick<Tools, "home" | "ui" | "clock">,
): Promise<Prepared> {
  if (selection.cpi === "docker") return await prepareEngine(selection, home, { clock });
  await warnWithoutNamespaces(ui);
  return selection;
}

export async function prepareEngine(
  { host, certificates }: Extract<CpiSelection, { cpi: "docker" }>,
  home: Home,
  { clock }: Pick<Tools, "clock">,
): Promise<Prepared> {
  const where = { host, ...(certificates !== undefined && { certificates }) };
  const engine = await openEngine(where, clock);
  const id = await nameOf(engine);
  const before = isBound(home) ? await readChoice(home) : undefined;
  // An engine may get another name when it is set up anew. The volume is proof that it is the same.
  if (before?.cpi === "docker" && before.engine !== id && !(await hasVolume(engine, before.volume)))
    throw OtherEngine({ dir: home.dir, host, remembered: before.host });
  return { cpi: "docker", ...where, engine: id };
}

/** Remembers it, for the one who has the home to himself. The volume is chosen once. */
export async function decide(home: Home, prepared: Prepared, random: Random): Promise<Choice> {
  const before = await readChoice(home);
  if (before !== undefined && before.cpi !== prepared.cpi && isBound(home)) {
    const { cpi: has } = before;
    throw OtherCpi({ dir: home.dir, has, vms: WORDS[has].many, asked: prepared.cpi });
  }
  const choice = prepared.cpi === "local" ? prepared : withVolume(prepared, before, random);
  await writeChoice(home, choice);
  return choice;
}

function withVolume(
  prepared: Extract<Prepared, { cpi: "docker" }>,
  before: Choice | undefined,
  random: Random,
): DockerChoice {
  const { volume, director } = before?.cpi === "docker" ? before : {};
  return {
    ...prepared,
    volume: volume ?? `slipway-disks-${random.hex(4)}`,
    ...(director !== undefined && { director }),
  };
}

const optional = v.optional(v.nullable(v.string()));
const info = open({ ID: optional, Name: optional, DockerRootDir: optional });

/**
 * Its machine, and where its files are: engines of one machine, or of copies of one, may have the same id. The id too,
 * unless it is podman's, which makes up one for every answer.
 */
async function nameOf(engine: Engine): Promise<string> {
  const ask = () => engine.json(info, { doing: "asking who it is", method: "GET", path: "/info" });
  const [{ ID, Name, DockerRootDir }, again] = [await ask(), await ask()];
  return [Name || "unnamed", DockerRootDir, ID === again.ID ? ID : undefined].filter(Boolean).join(" ");
}

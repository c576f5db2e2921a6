import type { Random } from "@slipway/kernel/random";
import type { Home } from "../home/home.ts";
import type { Tools } from "../tools.ts";
import { isBound, readChoice, writeChoice } from "./choice.ts";
import type { AskedCpi, ChosenCpi, PreparedCpi, Selection } from "./descriptor.ts";
import { OtherCpi } from "./errors.ts";
import { selectCpi } from "./select.ts";
import { cpiNamed } from "./table.ts";

export const readSelection = async (
  asked: AskedCpi,
  { home, env }: Pick<Tools, "home" | "env">,
): Promise<Selection> =>
  selectCpi(asked, env, { dir: home.dir, remembered: await readChoice(home), bound: isBound(home) });

/** Checks that VMs can be made, before anything is. A Director is of use without them, unless they are `needed`. */
export async function prepare(
  selection: Selection,
  { home, ui, clock }: Pick<Tools, "home" | "ui" | "clock">,
  needed = false,
): Promise<PreparedCpi> {
  const known = isBound(home) ? await readChoice(home) : undefined;
  const before = known?.cpi === selection.cpi ? known : undefined;
  return await cpiNamed(selection.cpi).prepare(selection, { home, ui, clock, before }, needed);
}

/** Remembers the CPI of a home. The caller holds the home's lock. */
export async function decide(home: Home, prepared: PreparedCpi, random: Random): Promise<ChosenCpi> {
  const before = await readChoice(home);
  if (before !== undefined && before.cpi !== prepared.cpi && isBound(home)) {
    const { cpi: has } = before;
    throw OtherCpi({ dir: home.dir, has, vms: cpiNamed(has).words.many, asked: prepared.cpi });
  }
  const own = before?.cpi === prepared.cpi ? before : undefined;
  const choice = cpiNamed(prepared.cpi).decide(prepared, own, random);
  await writeChoice(home, choice);
  return choice;
}

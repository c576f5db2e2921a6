import type { AskedCpi, ChosenCpi, Environment, Selection } from "./descriptor.ts";
import { OptionOfOther, OtherCpi } from "./errors.ts";
import { CPIS, cpiNamed, DEFAULT_CPI, optionName } from "./table.ts";

/** A home's state that bears on the choice of its CPI. */
export interface KnownChoice {
  readonly dir: string;
  readonly remembered: ChosenCpi | undefined;
  /** True if there may be VMs already. */
  readonly bound: boolean;
}

/** Selects the CPI that is asked for, as far as the home allows; else the remembered one; else the default. */
export function selectCpi(
  asked: AskedCpi,
  env: Environment,
  { dir, remembered, bound }: KnownChoice,
): Selection {
  const given = asked.cpi === undefined ? undefined : cpiNamed(asked.cpi).name;
  if (bound && remembered !== undefined && given !== undefined && given !== remembered.cpi)
    throw OtherCpi({ dir, has: remembered.cpi, vms: cpiNamed(remembered.cpi).words.many, asked: given });
  const name = given ?? remembered?.cpi ?? DEFAULT_CPI;
  for (const option of Object.keys(asked.options)) {
    const owner = CPIS.find(({ options }) => options.some(({ flags }) => optionName(flags) === option));
    if (owner !== undefined && owner.name !== name) throw OptionOfOther({ option, owner: owner.name, name });
  }
  return cpiNamed(name).select(asked, env, remembered?.cpi === name ? remembered : undefined);
}

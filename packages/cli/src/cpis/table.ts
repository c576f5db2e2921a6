import type { Option, TypedInput } from "../command.ts";
import type { AskedCpi, CpiDescriptor } from "./descriptor.ts";
import { docker } from "./docker/descriptor.ts";
import { BadCpi } from "./errors.ts";
import { local } from "./local/descriptor.ts";

/** The CPIs that `slipway up` and `slipway demo` know. The first one is the default. */
export const CPIS: readonly [CpiDescriptor, ...CpiDescriptor[]] = [local, docker];

export const DEFAULT_CPI = CPIS[0].name;

export function cpiNamed(given: string): CpiDescriptor {
  const found = CPIS.find(({ name }) => name === given);
  if (found === undefined) throw BadCpi({ given, known: CPIS.map(({ name }) => name).join(" or ") });
  return found;
}

/** Options of `up` and `demo` that choose what VMs are. */
export const cpiOptions: readonly Option[] = [
  {
    flags: "--cpi <name>",
    about: `what VMs are: ${CPIS.map(({ about }) => about).join(" or ")}; remembered, at first ${DEFAULT_CPI}`,
  },
  ...CPIS.flatMap(({ options }) => options),
];

const ownOptions = CPIS.flatMap(({ options }) => options).map(({ flags }) => optionName(flags));

export function optionName(flags: string): string {
  return flags.replace(/^--/, "").split(" ")[0] ?? "";
}

export function askedCpi(given: TypedInput): AskedCpi {
  const options: Record<string, string> = {};
  for (const name of ownOptions) {
    const value = given.text(name);
    if (value !== undefined) options[name] = value;
  }
  return { cpi: given.text("cpi"), options };
}

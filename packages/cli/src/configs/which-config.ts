import type { Option, TypedInput } from "../command.ts";
import { Contradiction } from "../parse/errors.ts";

export const configOptions: readonly Option[] = [
  { flags: "--type <type>", about: "cloud, runtime, cpi or one of your own" },
  { flags: "--name <name>", about: "of the config" },
];

export type WhichConfig =
  | { readonly id: string }
  | { readonly id?: undefined; readonly type: string; readonly name: string };

/** Returns the config that the user named, by id or by type and name. */
export function whichConfig(given: TypedInput): WhichConfig {
  const id = given.argument(0);
  const type = given.text("type");
  const name = given.text("name");
  if (id !== undefined && (type !== undefined || name !== undefined))
    throw Contradiction({ problem: "an id and --type with --name exclude each other" });
  if (id !== undefined) return { id };
  if (type === undefined || name === undefined)
    throw Contradiction({ problem: "a config is named by its id, or by --type and --name together" });
  return { type, name };
}

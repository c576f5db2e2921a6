import { absoluteName } from "@slipway/engine/variables/names";
import { NoSuchVariable, VariablesElsewhere } from "../variables/errors.ts";
import type { Services } from "./services.ts";

/** Returns the absolute name of a variable whose value the Director itself keeps. */
export function ownVariableName(
  { name, deployment }: { readonly name?: string | undefined; readonly deployment?: string | undefined },
  { configServerUrl, identity }: Pick<Services, "configServerUrl" | "identity">,
): string {
  if (configServerUrl !== undefined) throw VariablesElsewhere({ url: configServerUrl });
  if (name === undefined || (deployment === undefined && !name.startsWith("/")))
    throw NoSuchVariable({ name: name ?? "" });
  return absoluteName(name, { director: identity.name, deployment: deployment ?? "" });
}

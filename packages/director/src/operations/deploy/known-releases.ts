import { type PlanProblem, problemsError } from "@slipway/engine/documents/problems";
import type { Manifest } from "@slipway/engine/manifest/model";
import { chooseRelease } from "@slipway/engine/releases/choose-release";
import type { KnownRelease } from "@slipway/engine/releases/model";
import { loadReleases, versionsOf } from "../../store/releases.ts";
import type { OperationContext } from "../operation.ts";

/** Returns the uploaded releases that the manifest means, by name. One error names all that are missing. */
export async function knownReleases(
  { releases }: Manifest,
  { db }: OperationContext,
): Promise<ReadonlyMap<string, KnownRelease>> {
  const problems: PlanProblem[] = [];
  const chosen: { readonly name: string; readonly version: string }[] = [];
  for (const wanted of releases) {
    const choice = chooseRelease(wanted, await versionsOf(db, wanted.name));
    if ("problem" in choice) problems.push(choice);
    else chosen.push(choice);
  }
  if (problems.length > 0) throw problemsError("this cannot be deployed", problems);
  return new Map((await loadReleases(db, chosen)).map((one) => [one.name, one]));
}

import * as v from "valibot";
import type { Documents } from "../documents/documents.ts";

/** The groups of a deployed manifest; the rest of it does not matter here. */
const groups = v.fallback(
  v.array(
    v.looseObject({
      name: v.string(),
      lifecycle: v.fallback(v.picklist(["service", "errand"]), "service"),
      jobs: v.fallback(v.array(v.looseObject({ name: v.string(), release: v.string() })), []),
    }),
  ),
  [],
);

export async function groupsOf(
  manifestText: string,
  documents: Documents,
): Promise<v.InferOutput<typeof groups>> {
  const asked = { text: manifestText, what: "the manifest", keys: ["instance_groups"] };
  const found = (await documents.ask("keys", asked)) as { readonly instance_groups?: unknown };
  return v.parse(groups, found.instance_groups);
}

import { configDiff } from "@slipway/protocol/director/diff";
import type { TypedInput } from "../command.ts";
import { readDocument } from "../interpolate/document.ts";
import type { Tools } from "../tools.ts";
import { withReleases } from "../uploads/with-releases.ts";
import { confirmDiff } from "./confirm-diff.ts";

/**
 * `/cloud_configs` and its like: the older form, one endpoint for each type. The releases of a runtime config that have a
 * `url` are uploaded when it changes, before the question, as upstream does.
 */
export async function updateTypedConfig(
  type: "cloud" | "runtime" | "cpi",
  given: TypedInput,
  tools: Tools,
): Promise<void> {
  const read = await readDocument(given.argument(0) ?? "-", given, tools, { all: false });
  const api = await tools.director();
  const path = `/${type}_configs`;
  const name = type === "cpi" ? undefined : (given.text("name") ?? "");
  const yaml = (body: string) => ({ body, contentType: "text/yaml" }) as const;
  const redact = given.flag("no-redact") ? "false" : undefined;
  const { diff } = await api.json(
    { method: "POST", path: `${path}/diff`, query: { name, redact }, ...yaml(read.text) },
    configDiff,
  );
  let { text } = read;
  await confirmDiff(tools.ui, diff, async () => {
    if (type === "runtime") text = await withReleases(read, given.flag("fix-releases"), tools);
  });
  await api.text({ method: "POST", path, query: { name }, ...yaml(text) });
}

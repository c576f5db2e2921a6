import { configDiff } from "@slipway/protocol/director/diff";
import type { Given } from "../command.ts";
import { readDocument } from "../interpolate/document.ts";
import type { Tools } from "../tools.ts";
import { showAndAsk } from "./show-and-ask.ts";

/** `/cloud_configs` and its like: the older form, one endpoint for each type. */
export async function updateTypedConfig(
  type: "cloud" | "runtime" | "cpi",
  given: Given,
  tools: Tools,
): Promise<void> {
  const { text } = await readDocument(given.argument(0) ?? "-", given, tools, { all: false });
  const api = await tools.director();
  const path = `/${type}_configs`;
  const name = type === "cpi" ? undefined : (given.text("name") ?? "");
  const yaml = { body: text, contentType: "text/yaml" } as const;
  const redact = given.flag("no-redact") ? "false" : undefined;
  const { diff } = await api.json(
    { method: "POST", path: `${path}/diff`, query: { name, redact }, ...yaml },
    configDiff,
  );
  await showAndAsk(tools.ui, diff);
  await api.text({ method: "POST", path, query: { name }, ...yaml });
}

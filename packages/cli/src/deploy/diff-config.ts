import { configDiff } from "@slipway/protocol/director/diff";
import type { TypedInput } from "../command.ts";
import { readTextOrInput } from "../interpolate/read-text.ts";
import type { Tools } from "../tools.ts";
import { diffText } from "./diff.ts";
import { OneSideOnly } from "./errors.ts";

/** Two configs against each other: saved ones by their id, others by their content. */
export async function runDiffConfig(given: TypedInput, tools: Tools): Promise<void> {
  const [from, to] = [await sideOf(given, "from"), await sideOf(given, "to")];
  const api = await tools.director();
  const { diff } = await api.json(
    {
      method: "POST",
      path: "/configs/diff",
      body: JSON.stringify({ from, to }),
      contentType: "application/json",
    },
    configDiff,
  );
  tools.ui.table({
    content: "",
    header: { from_id: "From ID", to_id: "To ID", diff: "Diff" },
    rows: [[from.id, to.id, diffText(diff)]],
    transpose: true,
  });
}

/** Both are always sent, the one that is not meant empty. */
async function sideOf(
  given: TypedInput,
  side: "from" | "to",
): Promise<{ readonly id: string; readonly content: string }> {
  const [id, path] = [given.text(`${side}-id`), given.text(`${side}-content`)];
  if (id !== undefined && path === undefined) return { id, content: "" };
  if (path !== undefined && id === undefined)
    return { id: "", content: await readTextOrInput("the config", path) };
  throw OneSideOnly({ side });
}

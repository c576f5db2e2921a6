import { config } from "@slipway/protocol/director/config";
import { configDiff } from "@slipway/protocol/director/diff";
import type { TypedInput } from "../command.ts";
import { readDocument } from "../interpolate/document.ts";
import type { Tools } from "../tools.ts";
import { confirmDiff } from "./confirm-diff.ts";
import { ConfigNotNamed } from "./errors.ts";

/** Any type of config. What was compared must still be the latest when it is saved. */
export async function runUpdateConfig(given: TypedInput, tools: Tools): Promise<void> {
  const [type, name] = [needed(given, "type"), needed(given, "name")];
  const { text: content } = await readDocument(given.argument(0) ?? "-", given, tools, { all: false });
  const api = await tools.director();
  const send = (path: string, body: object) =>
    ({ method: "POST", path, body: JSON.stringify(body), contentType: "application/json" }) as const;
  const { diff, from } = await api.json(send("/configs/diff", { type, name, content }), configDiff);
  await confirmDiff(tools.ui, diff);
  const expected = given.text("expected-latest-id") ?? from?.id;
  const saved = await api.json(
    send("/configs", {
      type,
      name,
      content,
      ...(expected !== undefined && { expected_latest_id: expected }),
    }),
    config,
  );
  tools.ui.table({
    content: "config",
    header: { id: "ID", type: "Type", name: "Name", created_at: "Created At", content: "Content" },
    rows: [[saved.id, saved.type, saved.name, saved.created_at ?? "", saved.content ?? ""]],
    transpose: true,
  });
}

function needed(given: TypedInput, option: string): string {
  const text = given.text(option);
  if (!text) throw ConfigNotNamed({ option });
  return text;
}

import { event as eventEntry } from "@slipway/protocol/director/event";
import { pathSegment } from "../api/request-path.ts";
import type { Command } from "../command.ts";
import { type Field, fieldsTable } from "../ui/fields-table.ts";
import { dateText } from "../ui/time-text.ts";

export const event: Command = {
  name: "event",
  summary: "show one event",
  topic: "inspect",
  arguments: [{ name: "<id>", about: "as `events` shows it" }],
  examples: [["slipway event 7", ""]],
  async run(given, { ui, director }) {
    const api = await director();
    const path = `/events/${pathSegment(given.argument(0) ?? "")}`;
    const one = await api.json({ method: "GET", path }, eventEntry);
    const { yamlText } = await import("../ui/yaml-text.ts");
    const fields: readonly Field[] = [
      ["id", "ID", one.parent_id ? `${one.id} <- ${one.parent_id}` : one.id],
      ["time", "Time", one.timestamp ? dateText(one.timestamp) : ""],
      ["user", "User", one.user ?? ""],
      ["action", "Action", one.action ?? ""],
      ["object_type", "Object Type", one.object_type ?? ""],
      ["object_name", "Object Name", one.object_name ?? ""],
      ["task_id", "Task ID", one.task ?? ""],
      ["deployment", "Deployment", one.deployment ?? ""],
      ["instance", "Instance", one.instance ?? ""],
      ["context", "Context", yamlText(one.context)],
      ["error", "Error", one.error ?? ""],
    ];
    const optional = ["object_name", "task_id", "deployment", "instance", "context", "error"];
    const shown = fields.filter(([key, , value]) => value !== "" || !optional.includes(key));
    ui.table(fieldsTable("", shown));
    return 0;
  },
};

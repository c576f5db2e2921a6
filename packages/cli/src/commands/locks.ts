import { lock } from "@slipway/protocol/director/lock";
import * as v from "valibot";
import type { Command } from "../command.ts";
import { dateText } from "../ui/time-text.ts";

export const locks: Command = {
  name: "locks",
  summary: "list the locks that running tasks hold",
  topic: "inspect",
  async run(_given, { ui, director }) {
    const api = await director();
    const held = await api.json({ method: "GET", path: "/locks" }, v.array(lock));
    ui.table({
      content: "locks",
      header: { type: "Type", resource: "Resource", task_id: "Task ID", expires_at: "Expires at" },
      rows: [...held]
        .sort((a, b) => ((a.task_id ?? "") < (b.task_id ?? "") ? -1 : 1))
        .map((one) => [
          one.type,
          one.resource.join(":"),
          one.task_id ?? "",
          Number.isFinite(Number(one.timeout)) ? dateText(Math.floor(Number(one.timeout))) : "",
        ]),
    });
    return 0;
  },
};

import { network } from "@slipway/protocol/director/network";
import * as v from "valibot";
import type { Command } from "../command.ts";
import { Contradiction } from "../parse/errors.ts";
import { timeText } from "../ui/time-text.ts";

export const networks: Command = {
  name: "networks",
  summary: "list networks that the Director made and no deployment uses any more",
  topic: "inspect",
  options: [{ flags: "-o, --orphaned", about: "those; upstream's Director can list no others" }],
  examples: [["slipway networks --orphaned", "the only list there is"]],
  async run(given, { ui, director }) {
    // As upstream: without it nothing is said, which nobody understands.
    if (!given.flag("orphaned"))
      throw Contradiction({ problem: "a Director lists orphaned networks only; add --orphaned" });
    const api = await director();
    const found = await api.json(
      { method: "GET", path: "/networks", query: { orphaned: "true" } },
      v.array(network),
    );
    ui.table({
      content: "networks",
      header: { name: "Name", type: "Type", created_at: "Created At", orphaned_at: "Orphaned At" },
      rows: found.map((one) => [
        one.name,
        one.type ?? "",
        timeText(one.created_at),
        timeText(one.orphaned_at),
      ]),
    });
    return 0;
  },
};

import { stray } from "@slipway/protocol/director/stray";
import * as v from "valibot";
import { refusalOf } from "../api/refusal.ts";
import type { Command } from "../command.ts";
import { timeText } from "../ui/time-text.ts";
import { Missing } from "./errors.ts";

/** Ours: upstream's Director forgets them. */
export const strays: Command = {
  name: "strays",
  summary: "list strays: unrecorded resources that an interrupted call may have left in a cloud",
  topic: "inspect",
  async run(_given, { ui, director }) {
    const api = await director();
    const found = await api
      .json({ method: "GET", path: "/strays" }, v.array(stray))
      .catch((error: unknown) => {
        if (refusalOf(error)?.status === 404) throw Missing({ what: "list of strays at this Director" });
        throw error;
      });
    const { yamlText } = await import("../ui/yaml-text.ts");
    ui.table({
      content: "strays",
      rowNames: ["stray", "strays"],
      unpadded: true,
      header: {
        id: "ID",
        kind: "Kind",
        cpi: "CPI",
        request_id: "Request ID",
        about: "About",
        why: "Why",
        noted_at: "Noted At",
      },
      rows: found.map((one) => [
        one.id,
        one.kind,
        one.cpi ?? "",
        one.request_id ?? "",
        yamlText(one.about),
        one.why ?? "",
        timeText(one.noted_at),
      ]),
    });
    return 0;
  },
};

import { certificateExpiry, info } from "@slipway/protocol/director/info";
import * as v from "valibot";
import { infoTable } from "../api/info-table.ts";
import type { Command } from "../command.ts";

export const env: Command = {
  name: "environment",
  aliases: ["env"],
  summary: "show the Director",
  topic: "inspect",
  options: [{ flags: "--details", about: "also when its certificates expire" }],
  examples: [["slipway environment --details", "which certificate expires when"]],
  async run(given, { ui, director }) {
    const api = await director();
    ui.table(infoTable(await api.json({ method: "GET", path: "/info" }, info)));
    if (!given.flag("details")) return 0;
    const expiry = await api.json(
      { method: "GET", path: "/director/certificate_expiry" },
      v.array(certificateExpiry),
    );
    ui.table({
      title: "CERTIFICATE EXPIRY DATE INFORMATION",
      content: "",
      header: { certificate: "Certificate", expiry_date_utc: "Expiry Date (UTC)", days_left: "Days Left" },
      rows: expiry.map((one) => [one.certificate_path, one.expiry, String(one.days_left)]),
    });
    return 0;
  },
};

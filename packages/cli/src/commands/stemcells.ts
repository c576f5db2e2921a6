import type { Command } from "../command.ts";
import { listStemcells } from "../uploads/list-stemcells.ts";

export const stemcells: Command = {
  name: "stemcells",
  aliases: ["ss"],
  summary: "list stemcells",
  topic: "configuration",
  async run(_given, { ui, director }) {
    const all = await listStemcells(await director());
    ui.table({
      content: "stemcells",
      header: { name: "Name", version: "Version", os: "OS", cpi: "CPI", cid: "CID" },
      rows: all.map((one) => [
        one.name,
        one.version + ((one.deployments ?? []).length > 0 ? "*" : ""),
        one.operating_system ?? "",
        one.cpi ?? "",
        one.cid ?? "",
      ]),
      notes: ["(*) Currently deployed"],
    });
    return 0;
  },
};

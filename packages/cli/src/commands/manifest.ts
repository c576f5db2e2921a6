import { storedManifest } from "@slipway/protocol/director/deployment";
import { pathSegment } from "../api/request-path.ts";
import type { Command } from "../command.ts";

export const manifest: Command = {
  name: "manifest",
  aliases: ["man"],
  summary: "print a deployment's manifest",
  topic: "deployments",
  async run(_given, { ui, director, mustDeployment }) {
    const api = await director();
    const path = `/deployments/${pathSegment(mustDeployment())}`;
    const answer = await api.json({ method: "GET", path }, storedManifest);
    ui.block(answer.manifest ?? "");
    return 0;
  },
};

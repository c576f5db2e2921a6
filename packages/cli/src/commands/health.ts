import { type Health, health as healthWire, type InstanceHealth } from "@slipway/protocol/director/health";
import type { DirectorApi } from "../api/director-api.ts";
import { refusalOf } from "../api/refusal.ts";
import type { Command } from "../command.ts";
import { timeText } from "../ui/time-text.ts";
import { Missing } from "./errors.ts";

/** Ours: upstream's health monitor is another program. */
export const health: Command = {
  name: "health",
  summary: "show how all instances are: what is wrong, since when, and what is being done",
  topic: "inspect",
  options: [{ flags: "-f, --failing", about: "only those that are not well" }],
  examples: [
    ["slipway health", "of all deployments"],
    ["slipway -d shop health --failing --json", "for a script"],
  ],
  async run(given, { ui, director, deployment }) {
    const found = await asked(await director(), deployment);
    if (!found.enabled)
      ui.note("Nobody watches instances: `health.enabled` is false in the Director's configuration.");
    else if (found.at === null || found.at === undefined)
      ui.note("The Director has just started and has not looked around yet. Ask again in a moment.");
    else if (found.resurrection.held) ui.note(`VMs are not replaced: ${found.resurrection.held}.`);
    else if (!found.resurrection.enabled) ui.note("VMs are not replaced: resurrection is off.");
    for (const note of found.upkeep ?? []) ui.note(`${note[0]?.toUpperCase()}${note.slice(1)}.`);
    const shown = given.flag("failing") ? found.instances.filter(isTroubled) : found.instances;
    ui.table({
      content: "health",
      rowNames: ["instance", "instances"],
      header: {
        deployment: "Deployment",
        instance: "Instance",
        health: "Health",
        since: "Since",
        problems: "Problems",
        action: "Action",
        last_contact: "Last Contact",
      },
      rows: shown.map((one) => [
        one.deployment,
        `${one.instance_group}/${one.id}`,
        one.health.replaceAll("_", " "),
        timeText(one.since),
        one.problems.join("\n"),
        one.action ?? "",
        timeText(one.last_contact),
      ]),
    });
    return 0;
  },
};

const WELL = ["healthy", "detached", "idle", "ignored"];
const isTroubled = ({ health: how }: InstanceHealth): boolean => !WELL.includes(how);

async function asked(api: DirectorApi, deployment: string | undefined): Promise<Health> {
  const query = deployment === undefined ? "" : `?deployment=${encodeURIComponent(deployment)}`;
  try {
    return await api.json({ method: "GET", path: `/health${query}` }, healthWire);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.status === 404 && refusal.directorCode === undefined)
      throw Missing({ what: "health of instances at this Director" });
    throw error;
  }
}

import type { Problem } from "@slipway/protocol/director/problem";
import type { Command, TypedInput } from "../command.ts";
import { choose } from "../problems/choose.ts";
import { ProblemsFound } from "../problems/errors.ts";
import { type ChosenResolutions, resolve, scanned } from "../problems/scan.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";
import type { Ui } from "../ui/ui.ts";

const SKIP = "ignore";

export const cloudCheck: Command = {
  name: "cloud-check",
  aliases: ["cck", "cloudcheck"],
  summary: "compare a deployment with its cloud, and repair what differs",
  topic: "deployments",
  options: [
    { flags: "-a, --auto", about: "repair as the Director does by default" },
    {
      flags: "--resolution <name>",
      about: "repair like this where it is offered, such as recreate_vm",
      repeats: true,
    },
    { flags: "-r, --report", about: "only show what is found; with problems the exit code is 1" },
  ],
  examples: [
    ["slipway -d shop cloud-check --report", "only look"],
    ["slipway -d shop cloud-check --auto", "repair with what is suggested"],
  ],
  async run(given, { ui, director, mustDeployment }) {
    const api = await director();
    const deployment = mustDeployment();
    const problems = await scanned(api, deployment);
    show(problems, ui);
    if (problems.length === 0) return 0;
    if (given.flag("report")) throw ProblemsFound({ count: problems.length, deployment });
    const resolutions = await answers(problems, given, ui);
    await requireConfirmation(ui);
    await resolve(api, deployment, resolutions);
    return 0;
  },
};

function show(problems: readonly Problem[], ui: Ui): void {
  ui.table({
    content: "problems",
    header: { _: "#", type: "Type", description: "Description" },
    rows: problems.map(({ id, type, description }) => [String(id), type, description]),
  });
}

async function answers(problems: readonly Problem[], given: TypedInput, ui: Ui): Promise<ChosenResolutions> {
  if (given.flag("auto")) return Object.fromEntries(problems.map(({ id }) => [id, null]));
  const wanted = given.texts("resolution");
  if (wanted.length > 0) return Object.fromEntries(problems.map((one) => [one.id, offered(one, wanted)]));
  const chosen: Record<string, string | null> = {};
  for (const one of problems) {
    ui.line(one.description);
    chosen[one.id] = await choose(one, ui);
  }
  return chosen;
}

/** The first that was asked for and is offered; others are left for now. */
const offered = ({ resolutions }: Problem, wanted: readonly string[]): string =>
  wanted.find((name) => resolutions.some((one) => one.name === name)) ?? SKIP;

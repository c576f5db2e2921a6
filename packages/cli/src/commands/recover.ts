import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";

export const recover: Command = {
  name: "recover",
  summary: "repair a deployment by a recovery plan",
  topic: "deployments",
  arguments: [{ name: "<path>", about: "what `create-recovery-plan` has written" }],
  examples: [["slipway -d shop recover plan.yml", "what the plan does not name is left for now"]],
  async run(given, { ui, director, mustDeployment }) {
    const [{ resolve, scanned }, { byGroup, planned, readPlan }] = await Promise.all([
      import("../problems/scan.ts"),
      import("../problems/plan.ts"),
    ]);
    const path = given.argument(0) ?? "";
    const plan = await readPlan(path);
    const api = await director();
    const deployment = mustDeployment();
    const problems = await scanned(api, deployment);
    if (problems.length === 0) {
      ui.line("No problems found");
      return 0;
    }
    const { answers, overrides } = planned(plan, problems, path);
    for (const [group, its] of byGroup(problems)) {
      const override = overrides[group];
      ui.table({
        content: "",
        title: `Instance Group '${group}' plan summary${override === undefined ? "" : ` (max_in_flight override: ${override})`}`,
        header: { _: "#", planned_resolution: "Planned resolution", description: "Description" },
        rows: its.map(({ id, description, resolutions }) => {
          const chosen = resolutions.find(({ name }) => name === answers[id]);
          return [String(id), chosen?.plan ?? "Skip for now", description];
        }),
      });
    }
    await requireConfirmation(ui);
    await resolve(api, deployment, answers, overrides);
    return 0;
  },
};

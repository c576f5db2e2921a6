import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import type { Problem } from "@slipway/protocol/director/problem";
import type { Command } from "../command.ts";
import type { Ui } from "../ui/ui.ts";
import { FileNotWritten } from "./errors.ts";

export const createRecoveryPlan: Command = {
  name: "create-recovery-plan",
  summary: "compare a deployment with its cloud, and write down how to repair what differs",
  topic: "deployments",
  arguments: [{ name: "<path>", about: "where the plan is written; `recover` carries it out" }],
  options: [
    {
      flags: "--resolution <name>",
      about: "plan this where it is offered, such as recreate_vm, and ask nothing",
      repeats: true,
    },
  ],
  examples: [
    [
      "slipway -d shop create-recovery-plan plan.yml",
      "asks what to do about each type of problem; `recover plan.yml` does it",
    ],
  ],
  async run(given, { ui, director, mustDeployment }) {
    const [{ scanned }, { byGroup }, { choose }, { PlanUndecided }, { writeDocument }] = await Promise.all([
      import("../problems/scan.ts"),
      import("../problems/plan.ts"),
      import("../problems/choose.ts"),
      import("../problems/errors.ts"),
      import("../documents/write-document.ts"),
    ]);
    const api = await director();
    const problems = await scanned(api, mustDeployment());
    if (problems.length === 0) {
      ui.line("No problems found");
      return 0;
    }
    const wanted = given.texts("resolution");
    const plan = [];
    for (const [group, its] of byGroup(problems)) {
      ui.line(`Instance Group '${group}'`);
      const resolutions: Record<string, string> = {};
      for (const type of [...new Set(its.map((one) => one.type))].sort()) {
        const [first, ...more] = its.filter((one) => one.type === type);
        if (first === undefined) continue;
        show(type, [first, ...more], ui);
        const offered = first.resolutions.map(({ name }) => name);
        const name =
          wanted.length === 0
            ? await choose(first, ui, PlanUndecided)
            : wanted.find((one) => offered.includes(one));
        resolutions[type] = name ?? "ignore";
      }
      plan.push({ name: group, planned_resolutions: resolutions });
    }
    const path = given.argument(0) ?? "";
    const text = writeDocument({ instance_groups_plan: plan });
    await writeFileAtomic(path, text, 0o644).catch((cause: unknown) => {
      throw FileNotWritten({ path, why: systemCode(cause) ?? "it failed" }, { cause });
    });
    ui.aside(`${path}: \`slipway recover\` carries it out.`);
    return 0;
  },
};

function show(type: string, problems: readonly Problem[], ui: Ui): void {
  ui.table({
    content: `${type} problems`,
    title: `Problem type: ${type}`,
    header: { _: "#", description: "Description" },
    rows: problems.map(({ id, description }) => [String(id), description]),
  });
}

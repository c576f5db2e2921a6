import { type Problem, problem } from "@slipway/protocol/director/problem";
import * as v from "valibot";
import { piece } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";
import type { Command, Given } from "../command.ts";
import { confirmed } from "../ui/confirmed.ts";
import { CannotAskFor } from "../ui/errors.ts";
import type { Ui } from "../ui/ui.ts";
import { ProblemsFound, ProblemsUndecided } from "./errors.ts";

/** By problem; null: what the Director does by default. */
type Answers = Readonly<Record<string, string | null>>;

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
    const path = `/deployments/${piece(deployment)}`;
    const json = "application/json";
    await runTask(api, { method: "POST", path: `${path}/scans`, contentType: json });
    const found = await api.json({ method: "GET", path: `${path}/problems` }, v.array(problem));
    const problems = [...found].sort((a, b) => a.id - b.id);
    show(problems, ui);
    if (problems.length === 0) return 0;
    if (given.flag("report")) throw ProblemsFound({ count: problems.length, deployment });
    const resolutions = await answers(problems, given, ui);
    await confirmed(ui);
    const body = JSON.stringify({ resolutions });
    await runTask(api, { method: "PUT", path: `${path}/problems`, body, contentType: json });
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

async function answers(problems: readonly Problem[], given: Given, ui: Ui): Promise<Answers> {
  if (given.flag("auto")) return Object.fromEntries(problems.map(({ id }) => [id, null]));
  const wanted = given.texts("resolution");
  if (wanted.length > 0) return Object.fromEntries(problems.map((one) => [one.id, offered(one, wanted)]));
  const chosen: Record<string, string | null> = {};
  for (const one of problems) chosen[one.id] = await choose(one, ui);
  return chosen;
}

/** The first that was asked for and is offered; others are left for now. */
const offered = ({ resolutions }: Problem, wanted: readonly string[]): string =>
  wanted.find((name) => resolutions.some((one) => one.name === name)) ?? SKIP;

/** Asks until the answer is one of the numbers. */
async function choose({ description, resolutions }: Problem, ui: Ui): Promise<string | null> {
  ui.line(description);
  for (const [at, { plan }] of resolutions.entries()) ui.line(`${at + 1}: ${plan}`);
  for (;;) {
    const answer = (await ask(`Choice (1 to ${resolutions.length}; 1)`, ui)).trim();
    const chosen = /^\d{0,4}$/.test(answer) ? resolutions[Number(answer || 1) - 1] : undefined;
    if (chosen !== undefined) return chosen.name;
    ui.line(`'${answer}' is not a number from 1 to ${resolutions.length}.`);
  }
}

async function ask(question: string, ui: Ui): Promise<string> {
  try {
    return await ui.ask(question);
  } catch (error) {
    if (CannotAskFor.is(error)) throw ProblemsUndecided({}, { cause: error });
    throw error;
  }
}

import type { ApiRequest } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";
import type { CommandArgument, Option, TypedInput } from "../command.ts";
import { Contradiction } from "../parse/errors.ts";
import type { Tools } from "../tools.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";
import { slug } from "./slug.ts";

export type StateAction = "start" | "stop" | "restart" | "recreate";

export const stateArguments: readonly CommandArgument[] = [
  {
    name: "[slug]",
    about: "group, group/id or group/index; without it all instances",
    completes: "instance",
  },
];

export const convergeOptions: readonly Option[] = [
  { flags: "--canaries <number>", about: "instead of the manifest's" },
  { flags: "--max-in-flight <number>", about: "instead of the manifest's; a number or a percentage" },
  { flags: "--converge", about: "bring the deployment to its manifest first (default)" },
  { flags: "--no-converge", about: "touch the one instance only" },
];

export const skipDrain: Option = { flags: "--skip-drain", about: "do not run drain and pre-stop scripts" };
export const fix: Option = { flags: "--fix", about: "also instances whose agent does not answer" };

/** Returns the request: to converge the whole deployment, or for one instance only. */
export function stateRequest(action: StateAction, deployment: string, given: TypedInput): ApiRequest {
  const asked = given.argument(0);
  const to = asked === undefined ? undefined : slug(asked);
  const drainless = given.flag("skip-drain") ? "true" : undefined;
  const mend = given.flag("fix") ? "true" : undefined;
  if (given.flag("hard") && given.flag("soft"))
    throw Contradiction({ problem: "--hard and --soft exclude each other" });
  if (given.flag("no-converge")) {
    const problem = alonePreventedBy(given, to?.id);
    if (to?.id === undefined || problem !== undefined) throw Contradiction({ problem: problem ?? "" });
    return {
      method: "POST",
      path: `/deployments/${pathSegment(deployment)}/instance_groups/${pathSegment(to.group)}/${pathSegment(to.id)}/actions/${action}`,
      contentType: "text/yaml",
      query: {
        skip_drain: drainless,
        hard: given.flag("hard") ? "true" : undefined,
        ignore_unresponsive_agent: action === "recreate" ? mend : undefined,
      },
    };
  }
  const place =
    to === undefined
      ? "*"
      : to.id === undefined
        ? pathSegment(to.group)
        : `${pathSegment(to.group)}/${pathSegment(to.id)}`;
  return {
    method: "PUT",
    path: `/deployments/${pathSegment(deployment)}/jobs/${place}`,
    contentType: "text/yaml",
    query: {
      state: stateOf(action, given.flag("hard")),
      skip_drain: drainless,
      fix: mend,
      dry_run: given.flag("dry-run") ? "true" : undefined,
      canaries: given.text("canaries"),
      max_in_flight: given.text("max-in-flight"),
    },
  };
}

/** Asks, and follows it to its end. */
export async function changeState(action: StateAction, given: TypedInput, tools: Tools): Promise<number> {
  const api = await tools.director();
  const request = stateRequest(action, tools.mustDeployment(), given);
  await requireConfirmation(tools.ui);
  await runTask(api, request);
  return 0;
}

function stateOf(action: StateAction, hard: boolean): string {
  if (action === "start") return "started";
  if (action === "stop") return hard ? "detached" : "stopped";
  return action;
}

function alonePreventedBy(given: TypedInput, id: string | undefined): string | undefined {
  const other = ["converge", "canaries", "max-in-flight", "dry-run"].find((option) => given.flag(option));
  if (other !== undefined) return `--no-converge and --${other} exclude each other`;
  return id === undefined
    ? "--no-converge works on one instance: name it as group/id or group/index"
    : undefined;
}

import { config } from "@slipway/protocol/director/config";
import { deploymentDiff } from "@slipway/protocol/director/diff";
import { taskEvent } from "@slipway/protocol/director/task-event";
import { matches } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import type { ApiRequest, DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import type { TypedInput } from "../command.ts";
import { replacedText, vmsToReplace } from "../instances/vms-to-replace.ts";
import { readDocument } from "../interpolate/document.ts";
import type { Tools } from "../tools.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";
import type { Paint, Ui } from "../ui/ui.ts";
import { withReleases } from "../uploads/with-releases.ts";
import { type DeployConfig, deployFlags } from "./deploy-flags.ts";
import { hasChanges, printDiff } from "./diff.ts";
import { DeploymentNotNamed, ManifestRefused, NoManifest, NotAManifest, OtherDeployment } from "./errors.ts";

/** Reads, shows what changes, asks, deploys. The Director uses exactly the configs the difference was made with. */
export async function runDeploy(given: TypedInput, tools: Tools): Promise<void> {
  const { ui } = tools;
  const { path, skipDrain } = pathAndDrain(given);
  const read = await readDocument(path, given, tools, { all: false });
  const name = manifestName(read.value, path, tools.deployment);
  const api = await tools.director();
  // Says which one it is.
  tools.mustDeployment();
  const { flags, notes } = deployFlags(await deployConfigsOf(api), name);
  for (const note of notes) ui.note(note);
  const on = (option: string) => given.flag(option) || flags.has(option);
  const text = on("skip-upload-releases") ? read.text : await withReleases(read, on("fix-releases"), tools);

  const yaml = { body: text, contentType: "text/yaml" } as const;
  const { diff, context, error, problems } = await api.json(
    {
      method: "POST",
      path: `/deployments/${pathSegment(name)}/diff`,
      query: { redact: String(!given.flag("no-redact")) },
      ...yaml,
    },
    deploymentDiff,
  );
  if (error) ui.note(error);
  else if (!hasChanges(diff)) ui.line("No changes in the manifest and the configs.");
  printDiff(ui, diff);
  // Before anything is confirmed, and all of them.
  if (problems && problems.length > 0) throw ManifestRefused({ problems });
  const query = deployQuery(given, flags, skipDrain, context);
  if (query.recreate === "true")
    ui.line(replacedText(await vmsToReplace(api, name, query.recreate_vms_created_before)));
  const dryRun = given.flag("dry-run");
  // Our Director alone names problems. Another one's dry run says nothing of a plan.
  if (!dryRun && ui.asks && problems) await showSummary(api, { query, ...yaml }, ui);
  await requireConfirmation(ui);

  const task = await api.begin({ method: "POST", path: "/deployments", query, ...yaml });
  if (dryRun) await showPlan(api, task, ui);
  else await api.follow(task);
}

type DeployRequest = Pick<ApiRequest, "query" | "body" | "contentType">;

/** Shows what a deploy will do to instances, before the question. A deploy that cannot be planned fails here. */
async function showSummary(api: DirectorApi, request: DeployRequest, ui: Ui): Promise<void> {
  const query = { ...request.query, dry_run: "true", dry_run_steps: undefined };
  const task = await api.begin({ method: "POST", path: "/deployments", ...request, query });
  const onEvent = (line: string) => {
    const text = planText(line, ui.paint, { planOnly: true });
    if (text !== undefined) ui.line(text);
  };
  await api.follow(task, { onEvent });
}

async function showPlan(api: DirectorApi, task: number, ui: Ui): Promise<void> {
  const onEvent = (line: string) => {
    const text = planText(line, ui.paint);
    if (text !== undefined) ui.line(text);
  };
  await api.follow(task, { onEvent });
  ui.line(`Task ${task} was a dry run: nothing was changed.`);
}

/** `--skip-drain` takes no value, or one after `=`; without `=` the next word is the manifest, as with upstream. */
function pathAndDrain(given: TypedInput): { readonly path: string; readonly skipDrain: readonly string[] } {
  const slugs = given.texts("skip-drain");
  const first = given.argument(0);
  const path = first ?? slugs.at(-1);
  if (path === undefined) throw NoManifest({});
  if (!given.flag("skip-drain")) return { path, skipDrain: [] };
  const named = first === undefined ? slugs.slice(0, -1) : slugs;
  return { path, skipDrain: named.length === 0 ? ["*"] : named };
}

/** Directors that do not have them, or users who may not see them, deploy without. */
const deployConfigsOf = (api: DirectorApi): Promise<readonly DeployConfig[]> =>
  api
    .json(
      { method: "GET", path: "/configs", query: { latest: "true", limit: "1", type: "deploy" } },
      v.array(config),
    )
    .then((found) => found.map(({ name, content }) => ({ name, content: content ?? "" })))
    .catch(() => []);

/** The switches as the Director takes them. What was not given is not sent. */
export function deployQuery(
  given: TypedInput,
  flags: ReadonlySet<string>,
  skipDrain: readonly string[],
  context: unknown,
): Record<string, string | undefined> {
  const on = (option: string) => (given.flag(option) || flags.has(option) ? "true" : undefined);
  const before = given.text("recreate-vms-created-before");
  return {
    recreate: before === undefined ? on("recreate") : "true",
    recreate_vms_created_before: before,
    recreate_persistent_disks: on("recreate-persistent-disks"),
    fix: on("fix"),
    skip_drain: skipDrain.length === 0 ? undefined : skipDrain.join(","),
    canaries: given.text("canaries"),
    max_in_flight: given.text("max-in-flight"),
    dry_run: on("dry-run"),
    dry_run_steps: on("dry-run") && on("verbose"),
    force_latest_variables: on("force-latest-variables"),
    context: context === undefined || context === null ? undefined : JSON.stringify(context),
  };
}

/** The deployment a manifest is for. `-d` must say the same: a manifest is easily taken for another. */
export function manifestName(manifest: unknown, path: string, wanted: string | undefined): string {
  const found = nameIn(manifest, path);
  if (wanted === undefined) throw DeploymentNotNamed({ path, name: found });
  if (found !== wanted) throw OtherDeployment({ wanted, found });
  return found;
}

function nameIn(manifest: unknown, path: string): string {
  if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest)) {
    throw NotAManifest({ path, why: "it is no map" });
  }
  const name = "name" in manifest ? manifest.name : undefined;
  if (typeof name === "number") return String(name);
  if (typeof name !== "string" || name === "") throw NotAManifest({ path, why: "it has no `name`" });
  return name;
}

/** The stage under which our Director tells its plan, a line each. */
const PLAN = "Planned, not done";

/** Returns the text of a dry run's event: a line of the plan without its frame, or what another Director prints instead. */
export function planText(
  line: string,
  paint: Pick<Paint, "bold">,
  { planOnly = false } = {},
): string | undefined {
  const read = parsed(line);
  if (!matches(taskEvent, read)) return undefined;
  const { stage, task, state, message } = read;
  if (message) return message;
  if (!stage || !task || state !== "started") return undefined;
  if (stage !== PLAN) return planOnly ? undefined : `${stage}: ${task}`;
  return task.startsWith(" ") ? task : paint.bold(task);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

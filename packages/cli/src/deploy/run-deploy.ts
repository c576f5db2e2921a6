import { config } from "@slipway/protocol/director/config";
import { deploymentDiff } from "@slipway/protocol/director/diff";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { piece } from "../api/request-path.ts";
import type { Given } from "../command.ts";
import { readDocument } from "../interpolate/document.ts";
import type { Tools } from "../tools.ts";
import { confirmed } from "../ui/confirmed.ts";
import type { Ui } from "../ui/ui.ts";
import { type DeployConfig, deployFlags } from "./deploy-flags.ts";
import { deployQuery } from "./deploy-query.ts";
import { hasChanges, printDiff } from "./diff.ts";
import { NoManifest } from "./errors.ts";
import { manifestName, releasesWithUrl } from "./manifest-name.ts";
import { planText } from "./plan-text.ts";

/** Reads, shows what changes, asks, deploys. The Director uses exactly the configs the difference was made with. */
export async function runDeploy(given: Given, tools: Tools): Promise<void> {
  const { ui } = tools;
  const { path, skipDrain } = pathAndDrain(given);
  const { text, value } = await readDocument(path, given, tools, { all: false });
  const name = manifestName(value, path, tools.deployment);
  const releases = given.flag("skip-upload-releases") ? [] : releasesWithUrl(value);
  if (releases.length > 0) {
    ui.note(
      `Releases are not uploaded by slipway yet: the Director must have ${releases.join(", ")} already.`,
    );
  }
  const api = await tools.director();
  // Says which one it is.
  tools.mustDeployment();
  const { flags, notes } = deployFlags(await deployConfigsOf(api), name);
  for (const note of notes) ui.note(note);

  const yaml = { body: text, contentType: "text/yaml" } as const;
  const { diff, context, error } = await api.json(
    {
      method: "POST",
      path: `/deployments/${piece(name)}/diff`,
      query: { redact: String(!given.flag("no-redact")) },
      ...yaml,
    },
    deploymentDiff,
  );
  if (error) ui.note(error);
  else if (!hasChanges(diff)) ui.line("No changes in the manifest and the configs.");
  printDiff(ui, diff);
  await confirmed(ui);

  const query = deployQuery(given, flags, skipDrain, context);
  const task = await api.begin({ method: "POST", path: "/deployments", query, ...yaml });
  if (given.flag("dry-run")) await showPlan(api, task, ui);
  else await api.follow(task);
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
function pathAndDrain(given: Given): { readonly path: string; readonly skipDrain: readonly string[] } {
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

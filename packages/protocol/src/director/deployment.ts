import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";

const text = v.optional(v.string());
const flag = (about: string) => v.optional(doc(v.string(), `\`true\`: ${about}`));
const versioned = open({ name: v.string(), version: v.string() });

/** `GET /deployments`. */
export const deployment = open({
  name: v.string(),
  cloud_config: v.optional(doc(v.string(), "`none`, `latest` or `outdated`")),
  releases: v.optional(v.array(versioned)),
  stemcells: v.optional(v.array(versioned)),
  locked: v.optional(v.boolean()),
  teams: v.nullish(v.array(v.string())),
});
export type Deployment = v.InferOutput<typeof deployment>;

export const deploymentsQuery = open({
  exclude_configs: flag("without `cloud_config`"),
  exclude_releases: flag("without `releases`"),
  exclude_stemcells: flag("without `stemcells`"),
  exclude_lock: flag("without `locked`"),
});

/** `GET /deployments/:deployment`. */
export const storedManifest = open({
  manifest: v.nullish(
    doc(hidden(v.string()), "of the last deploy that succeeded, as it was posted; null before the first"),
  ),
});

/** `GET /deployment_configs`: which configs the last deploy was made with. */
export const deploymentConfig = open({
  id: v.nullish(v.number()),
  deployment: v.nullish(v.string()),
  config: open({ id: v.number(), type: v.string(), name: v.string() }),
});
export const deploymentConfigsQuery = open({
  "deployment[]": v.optional(doc(v.string(), "as often as wanted")),
  deployment: text,
});

const switches = {
  recreate: flag("recreate all VMs"),
  recreate_persistent_disks: flag("and their persistent disks"),
  recreate_vms_created_before: v.optional(doc(v.string(), "recreate VMs that are older")),
  fix: flag("replace VMs whose agent does not answer"),
  skip_drain: v.optional(doc(v.string(), "`*`, or groups and instances joined by commas")),
  canaries: text,
  max_in_flight: v.optional(doc(v.string(), "a number or a percentage")),
  dry_run: flag("only plan"),
  dry_run_steps: flag("ours: show each step of the plan and its calls"),
  force_latest_variables: text,
};
/** `POST /deployments`. */
export const deployQuery = open({
  ...switches,
  context: v.optional(doc(v.string(), "the `context` of the diff, as JSON")),
});

/** `PUT /deployments/:deployment/jobs/...`. */
export const stateQuery = open({
  state: doc(v.string(), "`started`, `stopped`, `detached`, `restart` or `recreate`"),
  ...switches,
});

/** `DELETE /deployments/:deployment`. */
export const deploymentDeletionQuery = open({ force: flag("go on when something fails") });

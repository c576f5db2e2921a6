import { defineError } from "@slipway/kernel/errors";

/** Refusals of the API, with upstream's numbers. */

/** Refusals of whole requests. */

export const BodyUnusable = defineError<{ why: string; status: number }>({
  code: "DIH-010",
  kind: "operator",
  number: 40005,
  status: (p) => p.status,
  message: (p) => `the body of the request ${p.why}`,
  next: "Send it again, whole, as UTF-8 text within the limit: 16 MiB, for users who may only read 4 MiB.",
});

export const BodyNotJson = defineError<{ why: string }>({
  code: "DIH-011",
  kind: "operator",
  number: 710001,
  message: (p) => p.why,
  next: "Send one JSON document as the body.",
});

export const RequestUnusable = defineError<{ problems: readonly string[] }>({
  code: "DIH-012",
  kind: "operator",
  number: 40005,
  message: (p) => `the request cannot be used: ${p.problems.join("; ")}`,
  next: "Correct the places named. Nothing was changed.",
});

export const ParameterMissing = defineError<{ where: "path" | "query" | "body" | "manifest"; name: string }>({
  code: "DIH-013",
  kind: "operator",
  number: 40001,
  message: (p) => `the ${p.where} lacks '${p.name}'`,
  next: "Give it and ask again. Nothing was changed.",
});

export const BadParameter = defineError<{ name: string; expected: string; number?: number }>({
  code: "DIH-014",
  kind: "operator",
  number: (p) => p.number ?? 40005,
  message: (p) => `'${p.name}' must be ${p.expected}`,
  next: "Correct it and ask again. Nothing was changed.",
});

export const ScopeMissing = defineError<{ accepted: readonly string[] }>({
  code: "DIH-015",
  kind: "operator",
  number: 600000,
  // Upstream answers a missing scope with 401, not 403.
  status: 401,
  message: (p) => `this needs one of the scopes: ${p.accepted.join(", ")}`,
  next: "Log in as a user who has one, or give the user one in the Director's configuration.",
});

export const ContextIdTooLong = defineError<{ most: number }>({
  code: "DIH-016",
  kind: "operator",
  number: 70010,
  message: (p) => `X-Bosh-Context-Id has more than ${p.most} characters`,
  next: "Send a shorter one.",
});

/** Refusals for things that do not exist. */

/** Defines the error for a missing thing, in upstream's words unless it has none. */
const missing = (
  code: string,
  number: number,
  what: string,
  next: string,
  words = (name: string) => `${what[0]?.toUpperCase()}${what.slice(1)} '${name}' doesn't exist`,
) =>
  defineError<{ name: string }>({
    code,
    kind: "operator",
    number,
    status: 404,
    message: (p) => words(p.name),
    next,
  });

export const NoSuchDeployment = missing("DIH-020", 70000, "deployment", "`bosh deployments` lists them.");
export const NoSuchConfig = missing(
  "DIH-021",
  440012,
  "config",
  "`bosh configs` lists them.",
  (name) => `Config ${name} not found`,
);
export const NoSuchTask = missing(
  "DIH-022",
  10000,
  "task",
  "`bosh tasks --recent` lists them.",
  (name) => `Task ${name} not found`,
);
export const NoSuchStray = missing("DIH-023", 100002, "stray", "`slipway strays` lists them.");
export const NoSuchResource = missing("DIH-024", 100002, "resource", "Fetch it again from where it came.");
export const NoSuchRelease = missing("DIH-025", 30005, "release", "`bosh releases` lists them.");
export const NoSuchReleaseVersion = missing(
  "DIH-029",
  30006,
  "release version",
  "`bosh releases` lists them.",
);

export const NoSuchJob = defineError<{ name: string; release: string; fingerprint: string }>({
  code: "DIH-038",
  kind: "operator",
  number: 70009,
  status: 404,
  message: (p) => `Release '${p.release}' has no job '${p.name}' with fingerprint '${p.fingerprint}'`,
  next: "`bosh inspect-release NAME/VERSION` lists its jobs.",
});

interface Where {
  readonly deployment: string;
  readonly group: string;
}

export const NoSuchInstance = defineError<Where & { instance: string }>({
  code: "DIH-026",
  kind: "operator",
  number: 70001,
  status: 404,
  message: (p) => `'${p.deployment}/${p.group}/${p.instance}' doesn't exist`,
  next: "`bosh instances` lists them.",
});

export const NoSuchGroup = defineError<Where>({
  code: "DIH-027",
  kind: "operator",
  number: 70009,
  status: 404,
  message: (p) => `deployment '${p.deployment}' has no instances in a group '${p.group}'`,
  next: "`bosh instances` lists them.",
});

export const NoInstanceName = defineError<{ given: string }>({
  code: "DIH-028",
  kind: "operator",
  number: 70002,
  message: (p) => `Invalid instance index or id '${p.given}'`,
  next: "`bosh instances --details` lists both.",
});

/** Refusals of manifests, configs and deploys. */

export const BadDocument = defineError<{ why: string; number: number }>({
  code: "DIH-030",
  kind: "operator",
  number: (p) => p.number,
  message: (p) => p.why,
  next: "Correct it and send it again. Nothing was changed.",
});

export const BadConfigRequest = defineError<{ why: string }>({
  code: "DIH-031",
  kind: "operator",
  number: 440010,
  message: (p) => `the config is not named as it must be: ${p.why}`,
  next: "Ask again with what is missing. Nothing was changed.",
});

export const BadDeployContext = defineError<{ why: string }>({
  code: "DIH-033",
  kind: "operator",
  number: 190025,
  message: (p) => `the context of the deploy cannot be used: ${p.why}`,
  next: "Run the deploy again.",
});

export const BadDeploymentName = defineError<{ why: string }>({
  code: "DIH-034",
  kind: "operator",
  number: 40005,
  message: (p) => `the manifest's 'name': ${p.why}`,
  next: "Give the deployment a name of letters, digits and - _ + . only.",
});

export const ManifestNotWanted = defineError<Record<never, never>>({
  code: "DIH-035",
  kind: "operator",
  number: 40005,
  message: () => "a change of state takes no manifest: the stored one is used",
  next: "Send an empty body. `bosh deploy` changes the manifest.",
});

export const NeverDeployed = defineError<{ deployment: string }>({
  code: "DIH-036",
  kind: "operator",
  number: 440001,
  message: (p) => `deployment '${p.deployment}' has no manifest yet: none of its deploys has succeeded`,
  next: "Deploy it first.",
});

export const ResurrectionPaused = defineError<Record<never, never>>({
  code: "DIH-037",
  kind: "operator",
  number: 410004,
  message: () => "resurrection is paused",
  next: "`bosh update-resurrection on` allows it again.",
});

/** Refusals for disks, and for files on them. */

export const DiskInUse = defineError<{ cid: string; instance: string; deployment: string }>({
  code: "DIH-040",
  kind: "operator",
  number: 520000,
  message: (p) =>
    `disk '${p.cid}' belongs to instance '${p.instance}' of deployment '${p.deployment}'; only orphaned disks can be deleted`,
  next: "`bosh orphan-disk` takes it from its instance. Data on it is lost when it is deleted.",
});

export const InstanceWithoutVm = defineError<{ instance: string }>({
  code: "DIH-041",
  kind: "operator",
  number: 70004,
  message: (p) => `'${p.instance}' has no VM whose agent could be asked`,
  next: "`bosh start` gives it one.",
});

export const InstanceWithoutDisk = defineError<{ instance: string }>({
  code: "DIH-042",
  kind: "operator",
  number: 520000,
  message: (p) => `'${p.instance}' has no persistent disk`,
  next: "Give its instance group 'persistent_disk' and deploy.",
});

export const AgentWithoutFiles = defineError<{ instance: string }>({
  code: "DIH-043",
  kind: "operator",
  number: 450001,
  message: (p) =>
    `the agent of '${p.instance}' does not know files of the persistent disk: it is not Slipway's, or an older one`,
  next: "Recreate the VM on a stemcell with Slipway's agent.",
});

export const AgentRefusedFile = defineError<{ instance: string; why: string }>({
  code: "DIH-044",
  kind: "outside",
  number: 450001,
  message: (p) => `the agent of '${p.instance}' refuses: ${p.why}`,
  next: "Correct what the agent names. `bosh instances --details` shows its VM and disk.",
});

export const AgentSilentOnFile = defineError<{ instance: string; why: string }>({
  code: "DIH-045",
  kind: "outside",
  number: 450002,
  message: (p) => `the agent of '${p.instance}' does not answer: ${p.why}`,
  next: "Look at the VM with `bosh instances`, and ask again.",
});

export const UploadUnusable = defineError<{ kind: string; why: string }>({
  code: "DIH-046",
  kind: "operator",
  number: (p) => (p.kind === "release" ? 30002 : 50000),
  message: (p) => `the uploaded ${p.kind} ${p.why}`,
  next: "Upload it again.",
});

export const NoSuchSnapshot = defineError<{ cid: string; deployment: string }>({
  code: "DIH-069",
  kind: "operator",
  number: 70008,
  status: 404,
  message: (p) => `snapshot ${p.cid} not found in deployment ${p.deployment}`,
  next: "`bosh snapshots` lists them.",
});

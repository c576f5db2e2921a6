import { defineError } from "@slipway/kernel/errors";

/** CLI-06x: what `deploy` and `update-*-config` refuse before they ask the Director. */

export const NoManifest = defineError<Record<never, never>>({
  code: "CLI-060",
  kind: "operator",
  typed: true,
  message: () => "deploy needs the path of a manifest",
  next: "Call it as `slipway -d NAME deploy MANIFEST.yml`; - reads the manifest from standard input.",
});

export const DeploymentNotNamed = defineError<{ path: string; name: string }>({
  code: "CLI-061",
  kind: "operator",
  typed: true,
  message: (p) =>
    `Expected non-empty deployment name: the manifest is that of '${p.name}', so it would be slipway -d ${p.name} deploy ${p.path}`,
  next: "Name the deployment with -d or BOSH_DEPLOYMENT. The name protects other deployments from being changed by mistake.",
});

export const OtherDeployment = defineError<{ wanted: string; found: string }>({
  code: "CLI-062",
  kind: "operator",
  message: (p) => `Expected manifest to specify deployment name '${p.wanted}' but was '${p.found}'`,
  next: "Give the manifest of that deployment, or name the manifest's own with -d. Nothing was changed.",
});

export const NotAManifest = defineError<{ path: string; why: string }>({
  code: "CLI-063",
  kind: "operator",
  message: (p) => `${p.path} is no manifest: ${p.why}`,
  next: "A manifest is a YAML map with the `name` of its deployment. Nothing was changed.",
});

export const ConfigNotNamed = defineError<{ option: string }>({
  code: "CLI-064",
  kind: "operator",
  typed: true,
  message: (p) => `update-config needs --${p.option}`,
  next: "Call it as `slipway update-config --type TYPE --name NAME FILE`; types are cloud, runtime, cpi, deploy and your own.",
});

export const OneSideOnly = defineError<{ side: "from" | "to" }>({
  code: "CLI-065",
  kind: "operator",
  typed: true,
  message: (p) => `diff-config needs --${p.side}-id or --${p.side}-content, one of them`,
  next: "Give an id that `slipway configs` lists, or the path of a file, for each side.",
});

export const ManifestRefused = defineError<{
  problems: readonly { readonly where: string; readonly problem: string; readonly fix: string }[];
}>({
  code: "CLI-066",
  kind: "operator",
  message: ({ problems }) =>
    [
      `this cannot be deployed: ${problems.length === 1 ? "1 problem" : `${problems.length} problems`}`,
      ...problems.map((one) => `- ${one.where === "" ? "" : `${one.where}: `}${one.problem}. ${one.fix}`),
    ].join("\n"),
  next: "Correct the places named and deploy again. Nothing was changed.",
});

import type { RenderFailure } from "../templates/request.ts";

/** The templates of one job that failed, on some instance of a group; or its properties, which its schema does not allow. */
export type JobFailures = { readonly group: string; readonly job: string } & (
  | { readonly failures: readonly RenderFailure[] }
  | { readonly properties: readonly string[] }
);

/** Upstream's words for all of them, each once however many instances it concerns. */
export function renderingReport(all: readonly JobFailures[]): string {
  const groups = new Map<string, Map<string, Set<string>>>();
  for (const one of all) {
    const jobs = groups.get(one.group) ?? new Map<string, Set<string>>();
    groups.set(one.group, jobs);
    const head = headOf(one);
    const lines = jobs.get(head) ?? new Set<string>();
    jobs.set(head, lines);
    for (const line of linesOf(one)) lines.add(line);
  }
  return [
    "Unable to render instance groups for deployment. Errors are:",
    ...[...groups].flatMap(([group, jobs]) => [
      `  - Unable to render jobs for instance group '${group}'. Errors are:`,
      ...[...jobs].flatMap(([head, lines]) => [
        `    - ${head}`,
        // Ruby's words may be several lines.
        ...[...lines].flatMap((text) => text.split("\n").map((line) => `      ${line}`)),
      ]),
    ]),
  ].join("\n");
}

const headOf = (one: JobFailures): string =>
  "failures" in one
    ? `Unable to render templates for job '${one.job}'. Errors are:`
    : `Error validating properties for ${one.job}`;

const linesOf = (one: JobFailures): readonly string[] =>
  "failures" in one
    ? one.failures.map(
        ({ name, line, message }) =>
          `- Error filling in template '${name}' (line ${line ?? "(unknown)"}: ${message})`,
      )
    : one.properties.map((problem) => `- ${problem}`);

import { defineError, type SlipwayError } from "@slipway/kernel/errors";
import { problemsError } from "../documents/problems.ts";
import type { RefusedJobs } from "./model.ts";

export const DnsIdMissing = defineError<{ what: string; name: string }>({
  code: "ENL-001",
  kind: "bug",
  message: (p) => `Unknown ${p.what}: '${p.name}': it has no number to make a short DNS name of`,
  next: "This is a mistake in Slipway. Report it with the task's debug log.",
});

export const LinksNotResolved = defineError<{ report: string }>({
  code: "ENL-002",
  kind: "operator",
  number: 100,
  message: (p) => p.report,
  next: "Name one provider for each link by `consumes` in the manifest, with `from` and perhaps `deployment`, or add the job that provides it. `nil` does without a link that is optional.",
});

/** Error of a task whose jobs cannot be planned. */
export const jobsError = ({ what, problems, report }: RefusedJobs): SlipwayError =>
  report === undefined ? problemsError(what, problems) : LinksNotResolved({ report });

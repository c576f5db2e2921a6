import { newReport } from "../../documents/problems.ts";
import type { Definition } from "../../variables/definitions.ts";
import { namingOf } from "../dns/address.ts";
import type { JobsInput, RefusedJobs } from "../model.ts";
import { placeJobs } from "../place-jobs.ts";
import { linkAddress } from "./address.ts";
import type { LinkConsumer } from "./model.ts";
import { planLinks } from "./plan-links.ts";

/** Certificates consume links too: for names in them. */
export const variableConsumers = (
  definitions: readonly Pick<Definition, "written" | "consumes">[],
): readonly LinkConsumer[] =>
  definitions.flatMap(({ written, consumes }) =>
    consumes.map(({ as, from, type }) => ({
      group: "",
      job: written,
      originalName: as,
      name: from,
      type,
      optional: false,
      explicit: true,
      blocked: false,
      manual: undefined,
      deployment: undefined,
      network: undefined,
      ipAddresses: undefined,
    })),
  );

export type VariableLinks =
  | { readonly ok: true; nameOf(variable: string, as: string): string | undefined }
  | RefusedJobs;

/** The names under which the providers of certificates are found. No instance need be planned for it. */
export function variableLinks(input: Omit<JobsInput, "instances">): VariableLinks {
  const report = newReport();
  const naming = namingOf(input);
  const linked = planLinks({ ...input, instances: [] }, placeJobs(input, report), naming, report);
  if (linked === undefined)
    return { ok: false, what: "the jobs of the manifest cannot be deployed", problems: report.problems };
  if (!linked.ok) return linked;
  const { links } = linked.links;
  return {
    ok: true,
    nameOf: (variable, as) => {
      const found = links.find(
        ({ consumer, name }) => consumer.group === "" && consumer.job === variable && name === as,
      );
      return found && (linkAddress(found, naming.ids) ?? undefined);
    },
  };
}

import { compareBytes } from "@slipway/engine/releases/source/fingerprint";
import type { ReleaseContent } from "@slipway/protocol/director/release";
import type { Command } from "../command.ts";
import { readRelease } from "../uploads/list-releases.ts";
import { releaseSlug } from "../uploads/release-slug.ts";

/** `slipway inspect-release` */
export const inspectRelease: Command = {
  name: "inspect-release",
  summary: "list the jobs and packages of a release, and what its packages are compiled for",
  topic: "configuration",
  arguments: [{ name: "<release>", about: "name/version" }],
  examples: [["slipway inspect-release shop/1.2.0", ""]],
  async run(given, { ui, director }) {
    const { name, version } = releaseSlug(given.argument(0) ?? "");
    const { yamlText } = await import("../ui/yaml-text.ts");
    const { jobs, packages } = await readRelease(await director(), name, version);
    ui.table({
      content: "jobs",
      header: {
        ...{ job: "Job", blobstore_id: "Blobstore ID", digest: "Digest" },
        ...{ links_consumed: "Links Consumed", links_provided: "Links Provided" },
      },
      rows: byName(jobs).map((job) => [
        `${job.name}/${job.fingerprint ?? ""}`,
        ...stored(job),
        linksText(job.consumes, yamlText),
        linksText(job.provides, yamlText),
      ]),
    });
    ui.table({
      content: "packages",
      header: {
        ...{ package: "Package", compiled_for: "Compiled for" },
        ...{ blobstore_id: "Blobstore ID", digest: "Digest" },
      },
      rows: byName(packages).flatMap((one) => {
        const title = `${one.name}/${one.fingerprint ?? ""}`;
        return [
          [title, "(source)", ...stored(one)],
          ...(one.compiled_packages ?? []).map((made) => [title, made.stemcell, ...stored(made)]),
        ];
      }),
      count: packages.length,
    });
    return 0;
  },
};

type Job = ReleaseContent["jobs"][number];
type Link = NonNullable<Job["consumes"]>[number];

/** Returns links as YAML, with keys in upstream's order. */
const linksText = (links: readonly Link[] | undefined, yamlText: (value: unknown) => string): string =>
  (links ?? [])
    .map(({ name, type, optional }) =>
      [`- ${yamlText({ name })}`, yamlText({ type }), ...(optional ? ["optional: true"] : [])].join("\n  "),
    )
    .join("\n");

const stored = (one: Pick<Job, "blobstore_id" | "sha1">) => [one.blobstore_id ?? "", one.sha1 ?? ""];

const byName = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] =>
  [...all].sort((a, b) => compareBytes(a.name, b.name));

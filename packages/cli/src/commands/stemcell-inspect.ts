import type { Command } from "../command.ts";
import type { Inspected } from "../stemcells/inspect-archive.ts";
import { sizeText } from "../ui/size-text.ts";

/** `slipway stemcell inspect`; upstream's columns first, in its words. */
export const stemcellInspect: Command = {
  name: "stemcell inspect",
  aliases: ["inspect-local-stemcell"],
  summary: "show what a stemcell file is, and check its image against its digest",
  topic: "configuration",
  arguments: [{ name: "<path-to-stemcell>", about: "the .tgz" }],
  examples: [["slipway stemcell inspect stemcell.tgz", ""]],
  async run(given, { ui }) {
    const { inspectStemcell } = await import("../stemcells/inspect-archive.ts");
    ui.table({
      // Upstream's name of it, which is no noun to count by.
      content: "stemcell-metadata",
      count: null,
      // In a pipe one row, as upstream prints it.
      transpose: ui.live,
      header: {
        name: "Name",
        os: "OS",
        version: "Version",
        infrastructure: "Infrastructure",
        hypervisor: "Hypervisor",
        api_version: "API version",
        formats: "Formats",
        kind: "Kind",
        image_size: "Image size",
        sha1: "Image SHA1",
        cloud_properties: "Cloud properties",
      },
      rows: [row(await inspectStemcell(given.argument(0) ?? ""))],
    });
    return 0;
  },
};

function row({ stemcell, light, imageSize, imageSha1 }: Inspected): readonly string[] {
  const { cloudProperties } = stemcell;
  return [
    stemcell.name,
    stemcell.operatingSystem,
    stemcell.version,
    textOf(cloudProperties.infrastructure) ?? "unknown",
    textOf(cloudProperties.hypervisor) ?? "-",
    String(stemcell.apiVersion),
    (stemcell.formats ?? []).join(", "),
    light ? "light" : "heavy",
    sizeText(imageSize),
    imageSha1,
    JSON.stringify(cloudProperties),
  ];
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

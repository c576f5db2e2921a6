import { resolve } from "node:path";
import type { Command, Given } from "../command.ts";
import { BadStemcellOption, NotBuiltYet } from "../stemcells/errors.ts";
import { sizeText } from "../ui/size-text.ts";

const NUMBER = /^[1-9]\d{0,2}$/;

/** `slipway stemcell build` */
export const stemcellBuild: Command = {
  name: "stemcell build",
  summary: "make the stemcell of the local cloud: its sandboxes see this host's own files, read-only",
  topic: "what they are made of",
  options: [
    { flags: "--name <name>", about: "its name (slipway-local)" },
    { flags: "--version <version>", about: "its version (1.0)" },
    { flags: "--api-version <number>", about: "which agent API it promises (3)" },
    { flags: "--from-root <path>", about: "a directory or tar with another root file system" },
    { flags: "--for <cloud>", about: "which cloud it is for (local)" },
    { flags: "--out <file>", about: "where to write it (<name>-<version>.tgz)" },
  ],
  async run(given, { ui, clock }) {
    const cloud = given.text("for") ?? "local";
    if (cloud !== "local") throw NotBuiltYet({ cloud });
    const { buildLocalStemcell, LOCAL_STEMCELL } = await import("../stemcells/build-local.ts");
    const name = given.text("name") ?? LOCAL_STEMCELL.name;
    const version = given.text("version") ?? LOCAL_STEMCELL.version;
    const built = await buildLocalStemcell({
      to: resolve(given.text("out") ?? defaultFile(name, version)),
      name,
      version,
      apiVersion: apiVersionOf(given),
      fromRoot: given.text("from-root"),
      clock,
    });
    ui.table({
      content: "stemcell",
      transpose: true,
      header: {
        name: "Name",
        version: "Version",
        os: "OS",
        api_version: "API version",
        file: "File",
        size: "Size",
        sha1: "SHA1",
        took: "Took",
      },
      rows: [
        [
          built.name,
          built.version,
          built.os,
          String(built.apiVersion),
          built.file,
          sizeText(built.size),
          built.sha1,
          `${Math.round(built.ms)} ms`,
        ],
      ],
    });
    return 0;
  },
};

/** A name that cannot be one is refused later, with its reason; here it only must not lead elsewhere. */
const defaultFile = (name: string, version: string): string => `${name}-${version}.tgz`.replaceAll("/", "-");

function apiVersionOf(given: Given): number | undefined {
  const text = given.text("api-version");
  if (text === undefined) return undefined;
  if (NUMBER.test(text)) return Number(text);
  throw BadStemcellOption({ option: "api-version", why: `"${text}" is no number from 1 to 999` });
}

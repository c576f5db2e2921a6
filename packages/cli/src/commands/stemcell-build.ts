import { resolve } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import type { Command, TypedInput } from "../command.ts";
import type { ImageReference } from "../stemcells/build-light.ts";
import type { BuiltStemcell } from "../stemcells/build-local.ts";
import {
  AgentOlder,
  BadStemcellOption,
  ImageUnseen,
  NoAgentInImage,
  NotBuiltYet,
} from "../stemcells/errors.ts";
import type { Tools } from "../tools.ts";
import { sizeText } from "../ui/size-text.ts";

const NUMBER = /^[1-9]\d{0,2}$/;

/** `slipway stemcell build` */
export const stemcellBuild: Command = {
  name: "stemcell build",
  summary: "make a stemcell: of this host's own files for the local cloud, of Debian packages for Docker",
  topic: "configuration",
  options: [
    { flags: "--for <cloud>", about: "which cloud it is for: local or docker (local)" },
    {
      flags: "--name <name>",
      about: "its name (slipway-local, slipway-docker-debian-<suite>, slipway-docker-host, or the image's)",
    },
    { flags: "--version <version>", about: "its version (1.0, or the image's tag, or one for its content)" },
    { flags: "--api-version <number>", about: "which agent API it promises (3, or what is in the image)" },
    { flags: "--from-root <path>", about: "local: a directory or tar with another root file system" },
    { flags: "--suite <name>", about: "docker: which release of Debian (bookworm)" },
    { flags: "--mirror <url>", about: "docker: where Debian's packages are (where this machine gets them)" },
    { flags: "--package <name>", about: "docker: one more Debian package", repeats: true },
    { flags: "--root-only", about: "docker: only the root file system, a gzipped tar" },
    {
      flags: "--from-image <reference>",
      about: "docker: a light stemcell of an image with an agent, NAME@sha256:DIGEST",
    },
    {
      flags: "--docker-host <address>",
      about: "with --from-image: the engine that looks into it (DOCKER_HOST or unix:///var/run/docker.sock)",
    },
    { flags: "--from-host", about: "docker: of this machine's own programs, in seconds, for trying things" },
    { flags: "--os <name>", about: "with --from-image: its operating system (its name)" },
    { flags: "--out <file>", about: "where to write it (<name>-<version>.tgz)" },
  ],
  examples: [
    ["slipway stemcell build --out stemcell.tgz", "for sandboxes: this machine's own files"],
    ["slipway stemcell build --for docker --from-host", "for containers, without a network"],
  ],
  async run(given, tools) {
    const cloud = given.text("for") ?? "local";
    if (cloud !== "local" && cloud !== "docker") throw NotBuiltYet({ cloud });
    const kind = cloud === "local" ? "local" : kindOf(given);
    refuseOthers(given, kind);
    const built = await BUILD[kind](given, tools);
    const { size, packages, missing = [] } = built.root ?? {};
    tools.ui.table({
      content: "stemcell",
      transpose: true,
      labeled: true,
      header: {
        ...{ name: "Name", version: "Version", os: "OS", api_version: "API version", file: "File" },
        size: "Size",
        ...(size !== undefined && { root_size: "Unpacked" }),
        ...(packages !== undefined && { packages: "Packages" }),
        ...(missing.length > 0 && { missing: "Not in it" }),
        sha1: "SHA1",
        took: "Took",
      },
      rows: [
        [
          ...[built.name, built.version, built.os, String(built.apiVersion), built.file],
          sizeText(built.size),
          ...(size === undefined ? [] : [sizeText(size)]),
          ...(packages === undefined ? [] : [String(packages)]),
          ...(missing.length > 0 ? [missing.join(" ")] : []),
          built.sha1,
          built.ms < 10_000 ? `${Math.round(built.ms)} ms` : `${Math.round(built.ms / 1000)} s`,
        ],
      ],
    });
    return 0;
  },
};

/** Options that only one kind has. */
const ONLY = {
  local: ["from-root"],
  packages: ["suite", "mirror", "package", "root-only"],
  image: ["from-image", "os", "docker-host"],
  host: ["from-host"],
} as const;
type Kind = keyof typeof ONLY;

const WHAT: Readonly<Record<Kind, string>> = {
  local: "the local cloud's stemcell",
  packages: "one of Debian packages",
  image: "one of an image",
  host: "one of this machine's programs",
};

const kindOf = (given: TypedInput): Kind =>
  given.text("from-image") !== undefined ? "image" : given.flag("from-host") ? "host" : "packages";

/** An option that would be ignored is a mistake. */
function refuseOthers(given: TypedInput, kind: Kind): void {
  const allowed: readonly string[] = ONLY[kind];
  const isGiven = (option: string) =>
    option === "package"
      ? given.texts(option).length > 0
      : option === "root-only" || option === "from-host"
        ? given.flag(option)
        : given.text(option) !== undefined;
  const wrong = Object.values(ONLY)
    .flat()
    .find((option) => !allowed.includes(option) && isGiven(option));
  if (wrong === undefined) return;
  throw BadStemcellOption({ option: wrong, why: `it means nothing for ${WHAT[kind]}` });
}

async function local(given: TypedInput, { clock }: Tools): Promise<BuiltStemcell> {
  const { buildLocalStemcell, LOCAL_STEMCELL } = await import("../stemcells/build-local.ts");
  const name = given.text("name") ?? LOCAL_STEMCELL.name;
  const version = given.text("version") ?? LOCAL_STEMCELL.version;
  return await buildLocalStemcell({
    to: outOf(given, name, version),
    name,
    version,
    apiVersion: apiVersionOf(given),
    fromRoot: given.text("from-root"),
    clock,
  });
}

async function fromPackages(given: TypedInput, tools: Tools): Promise<BuiltStemcell> {
  const { clock, env, programs, stop, ui } = tools;
  const { buildDockerStemcell, DOCKER_STEMCELL, dockerName } = await import("../stemcells/build-docker.ts");
  const suite = given.text("suite") ?? DOCKER_STEMCELL.suite;
  const name = given.text("name") ?? dockerName(suite);
  const version = given.text("version") ?? DOCKER_STEMCELL.version;
  const rootOnly = given.flag("root-only");
  const apiVersion = apiVersionOf(given);
  const progress = ui.progress(`Making a root file system of Debian ${suite}; this takes a minute or two`);
  try {
    const built = await buildDockerStemcell({
      ...{ name, version, apiVersion, suite, rootOnly, clock, env, stop },
      to: outOf(given, name, version, rootOnly ? "tar.gz" : "tgz"),
      mirror: given.text("mirror"),
      packages: given.texts("package"),
      agent: programs.agent,
      node: process.execPath,
    });
    progress.done(`Made a root file system of Debian ${suite}`);
    return built;
  } catch (error) {
    progress.failed();
    throw error;
  }
}

async function fromImage(given: TypedInput, tools: Tools): Promise<BuiltStemcell> {
  const { buildLightStemcell, readReference } = await import("../stemcells/build-light.ts");
  const image = readReference(given.text("from-image") ?? "");
  const name = given.text("name") ?? image.short;
  const version = given.text("version") ?? image.version ?? "1.0";
  const { clock } = tools;
  const apiVersion = await agentVersion(given, image, tools);
  return await buildLightStemcell({
    ...{ image, name, version, os: given.text("os"), apiVersion, clock },
    to: outOf(given, name, version),
  });
}

/** Returns the API version of the agent in the image. If no engine can look, the user's option counts. */
async function agentVersion(given: TypedInput, image: ImageReference, tools: Tools): Promise<number> {
  const asked = apiVersionOf(given);
  const { clock, env, ui } = tools;
  const [{ openEngine }, { agentInImage }, { EngineAbsent }, { DEFAULT_HOST }] = await Promise.all([
    import("../cpis/docker/engine.ts"),
    import("../stemcells/image-agent.ts"),
    import("../cpis/docker/errors.ts"),
    import("../cpis/docker/descriptor.ts"),
  ]);
  const host = given.text("docker-host") ?? (env.DOCKER_HOST || DEFAULT_HOST);
  const certificates = env.DOCKER_CERT_PATH || undefined;
  try {
    const found = await agentInImage(await openEngine({ host, certificates }, clock), image);
    const reference = `${image.name}@${image.digest}`;
    if (asked !== undefined && asked > found.apiVersion)
      throw AgentOlder({ reference, asked, has: found.apiVersion, path: found.path });
    return asked ?? found.apiVersion;
  } catch (error) {
    const unseen = ImageUnseen.is(error) || NoAgentInImage.is(error) || EngineAbsent.is(error);
    if (asked === undefined || !unseen) throw error;
    ui.note(`Not checked: ${messageTrail(error)}`);
    return asked;
  }
}

async function fromHost(given: TypedInput, { clock, programs }: Tools): Promise<BuiltStemcell> {
  const { buildHostStemcell, hostStemcellId } = await import("../stemcells/build-host.ts");
  const { agent } = programs;
  const id = await hostStemcellId({ agent });
  const name = given.text("name") ?? id.name;
  const version = given.text("version") ?? id.version;
  const to = outOf(given, name, version);
  return await buildHostStemcell({ to, agent, name, version, apiVersion: apiVersionOf(given), clock });
}

const BUILD: Readonly<Record<Kind, (given: TypedInput, tools: Tools) => Promise<BuiltStemcell>>> = {
  local,
  packages: fromPackages,
  image: fromImage,
  host: fromHost,
};

/** A name that cannot be one is refused later, with its reason; here it only must not lead elsewhere. */
const outOf = (given: TypedInput, name: string, version: string, ending = "tgz"): string =>
  resolve(given.text("out") ?? `${name}-${version}.${ending}`.replaceAll("/", "-"));

function apiVersionOf(given: TypedInput): number | undefined {
  const text = given.text("api-version");
  if (text === undefined) return undefined;
  if (NUMBER.test(text)) return Number(text);
  throw BadStemcellOption({ option: "api-version", why: `"${text}" is no number from 1 to 999` });
}

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { CpiDescriptor, DemoRange, Environment, VmWords } from "../descriptor.ts";
import { OtherEngine } from "./errors.ts";

/** Keys of the engine are never in it. */
const choice = v.strictObject({
  cpi: v.literal("docker"),
  /** Address of the engine. */
  host: text("host"),
  /** Directory with `ca.pem`, `cert.pem` and `key.pem`, for an engine that needs them. */
  certificates: v.optional(text("certificates")),
  /** Name that the engine gives itself. */
  engine: text("engine"),
  /** Volume of the home's disks, which no other home has. */
  volume: v.pipe(v.string(), v.regex(/^slipway-disks-[0-9a-f]{8}$/, "volume must be one of a home")),
  /** Director's uuid, the label of everything of this home on the engine; known after the first start. */
  director: v.optional(text("director")),
});

export type DockerChoice = Readonly<v.InferOutput<typeof choice>>;

export interface DockerSelection {
  readonly cpi: "docker";
  readonly host: string;
  readonly certificates: string | undefined;
}

export type PreparedDocker = Omit<DockerChoice, "volume" | "director">;

export const DEFAULT_HOST = "unix:///var/run/docker.sock";

export const WORDS: VmWords = {
  one: "container",
  many: "containers",
  title: "Containers",
  interrupted: "Ctrl-C stops it. Its containers run on. State and disks are kept.",
  stopping: "Stopping the Director and its database.",
  left: "Its database runs on: `slipway up` takes it over, `slipway down` stops it.",
};

export const RANGE: DemoRange = {
  usual: ["10.245.77.0/24", "10.245.78.0/24", "10.245.79.0/24", "10.245.80.0/24"],
  takes: "24 bits of a private network",
  example: "10.246.0.0/24",
  fits: /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/,
};

/** Containers of a Docker Engine. */
export const docker: CpiDescriptor<DockerChoice, DockerSelection, PreparedDocker> = {
  name: "docker",
  about: "docker",
  words: WORDS,
  options: [
    {
      flags: "--docker-host <address>",
      about: `docker: the engine; remembered, at first DOCKER_HOST or ${DEFAULT_HOST}`,
    },
  ],
  range: RANGE,
  choice,
  select: ({ options }, env, remembered) => engineOf(options["docker-host"], env, remembered),
  async prepare({ host, certificates }, { home, clock, before }) {
    const [{ openEngine, nameOf }, { hasVolume }] = await Promise.all([
      import("./engine.ts"),
      import("@slipway/cpi-docker/disks/volume"),
    ]);
    const where = { host, ...(certificates !== undefined && { certificates }) };
    const engine = await openEngine(where, clock);
    const id = await nameOf(engine);
    // An engine may get another name when it is set up again. The volume is proof that it is the same.
    if (before !== undefined && before.engine !== id && !(await hasVolume(engine, before.volume)))
      throw OtherEngine({ dir: home.dir, host, remembered: before.host });
    return { cpi: "docker", ...where, engine: id };
  },
  /** The volume is chosen once. */
  decide: (prepared, before, random) => ({
    ...prepared,
    volume: before?.volume ?? `slipway-disks-${random.hex(4)}`,
    ...(before?.director !== undefined && { director: before.director }),
  }),
  /** Things on an engine are known by the uuid, also while no Director runs. */
  withDirector: (made, director) => (made.director === director ? made : { ...made, director }),
  launch: ({ host, certificates }) => ({
    args: ["--docker-host", host],
    env: certificates === undefined ? {} : { DOCKER_CERT_PATH: certificates },
  }),
  backend: async (made, tools) => (await import("./backend.ts")).dockerBackend(made, tools),
  stage: async (made, tools) => (await import("./demo-setup.ts")).dockerStage(made, tools),
};

/** Uses the variables of the `docker` CLI if no option names the engine. */
function engineOf(
  asked: string | undefined,
  env: Environment,
  before: DockerChoice | undefined,
): DockerSelection {
  const host = asked ?? (env.DOCKER_HOST || before?.host || DEFAULT_HOST);
  const named =
    env.DOCKER_CERT_PATH || (env.DOCKER_TLS_VERIFY ? join(env.HOME || homedir(), ".docker") : undefined);
  const certificates = named ?? (host === before?.host ? before.certificates : undefined);
  const needed = !host.startsWith("unix:") && certificates !== undefined;
  return { cpi: "docker", host, certificates: needed ? resolve(certificates) : undefined };
}

import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Cloud } from "../cloud.ts";
import { must, refused } from "../engine/engine.ts";
import { execIn, type Ran } from "../engine/exec.ts";
import { textOf } from "../engine/http.ts";
import { EngineRefused, NoKeeperImage, NoLoopDevices } from "../errors.ts";
import { LABEL, type Labels } from "../labels.ts";
import { securityOf } from "../security.ts";
import { findImage, stemcellImages, tagImage, untagImage } from "../stemcells/images.ts";
import { findContainer, removeContainer, startContainer } from "../vms/containers.ts";
import { BOOT, ENDED, PROBE } from "./scripts.ts";

/** Raised when the keeper must be made anew to work with this code. */
const VERSION = "1";

/**
 * A container that has the volume of the disks and may make loop devices, and does nothing until it is told to. All work
 * on disks is done in there, so that this CPI needs no rights on the engine's host but those of the engine's API.
 */
export class Keeper {
  readonly #cloud: Cloud;
  readonly name: string;

  private constructor(cloud: Cloud) {
    this.#cloud = cloud;
    this.name = keeperName(cloud);
  }

  /** Starts it, or makes it from the first image that will do. */
  static async open(cloud: Cloud): Promise<Keeper> {
    const keeper = new Keeper(cloud);
    if (!(await keeper.#isThere())) await keeper.#makeOfAny();
    return keeper;
  }

  /** Undefined where there was never a disk. */
  static async openIfUsed(cloud: Cloud): Promise<Keeper | undefined> {
    const keeper = new Keeper(cloud);
    if (await keeper.#isThere()) return keeper;
    if (!(await volumeExists(cloud))) return undefined;
    await keeper.#makeOfAny();
    return keeper;
  }

  /** Runs one of the scripts. Words of the caller come as arguments, never as part of the script. */
  async run(script: string, args: readonly string[], doing: string): Promise<Ran> {
    return await execIn(this.#cloud.engine, this.name, ["sh", "-c", script, "sh", ...args], doing);
  }

  /** Also when it has to be started. One of an older kind is removed. */
  async #isThere(): Promise<boolean> {
    const found = await findContainer(this.#cloud, this.name);
    if (found === undefined) return false;
    if (Number(found.Config.Labels?.[LABEL.version] ?? 0) < Number(VERSION)) {
      await removeContainer(this.#cloud, this.name);
      return false;
    }
    if (!found.State.Running)
      await startContainer(this.#cloud, this.name, "starting the keeper of the disks");
    return true;
  }

  async #makeOfAny(): Promise<void> {
    const cloud = this.#cloud;
    const images = await candidates(cloud);
    if (images.length === 0)
      throw NoKeeperImage({ why: "no stemcell was uploaded, and docker.keeper_image is not set" });
    const wasThere = await volumeExists(cloud);
    await createVolume(cloud);
    const failures: Failure[] = [];
    for (const image of images) {
      const failure = await this.#make(image);
      if (failure === undefined) return;
      failures.push(failure);
    }
    // A volume means that there may be disks.
    if (!wasThere) await removeVolume(cloud);
    const said = [...new Set(failures.map((failure) => failure.said))].join("; ");
    throw failures.every((failure) => failure.ofImage)
      ? NoKeeperImage({ why: said })
      : NoLoopDevices({ said });
  }

  async #make(image: string): Promise<Failure | undefined> {
    const cloud = this.#cloud;
    // Its own name for the image: the stemcell can be deleted, the keeper stays.
    const tag = { repo: "slipway-keeper", tag: image.replace(/^sha256:/, "").slice(0, 12) };
    await tagImage(cloud, image, tag);
    const call = {
      doing: "making the keeper of the disks",
      method: "POST",
      path: "/containers/create",
      query: { name: this.name },
      body: await keeperSpec(cloud, image),
    } as const;
    const reply = await cloud.engine.attempt(call);
    if (refused(reply) && reply.status === 409) {
      // Another call was faster.
      await startContainer(cloud, this.name, call.doing);
      return undefined;
    }
    await textOf(must(reply, call));
    const failure = await this.#probe(call.doing);
    if (failure === undefined) return undefined;
    await removeContainer(cloud, this.name);
    await untagImage(cloud, tag);
    return failure;
  }

  async #probe(doing: string): Promise<Failure | undefined> {
    try {
      await startContainer(this.#cloud, this.name, doing);
      const { code, stderr } = await this.run(PROBE, [], doing);
      if (code === 0) return undefined;
      // The container was caught between two starts: nothing could be run in it.
      if (code === NO_PROGRAM) return NO_SHELL;
      const said = stderr.trim().slice(-300) || `the probe ended with ${code}`;
      return { said, ofImage: code === ENDED.notFound };
    } catch (error) {
      if (!EngineRefused.is(error)) throw error;
      const found = await findContainer(this.#cloud, this.name);
      // What a first process ends with when there is no such program.
      const noShell = found?.State.ExitCode === 127 || /executable file/.test(error.message);
      return noShell ? NO_SHELL : { said: error.message, ofImage: false };
    }
  }
}

/** What is wrong with the image, or with the engine. */
interface Failure {
  readonly said: string;
  readonly ofImage: boolean;
}

const NO_SHELL: Failure = { said: "it has no sh", ofImage: true };
/** What the engine says of a program that it could not run in a container. */
const NO_PROGRAM = 126;

export const keeperName = ({ config }: Cloud): string => `slipway-keeper-${config.volume}`;

async function candidates(cloud: Cloud): Promise<readonly string[]> {
  const { keeper_image: named } = cloud.config;
  if (named === undefined) return await stemcellImages(cloud);
  const found = await findImage(cloud, named);
  if (found === undefined) throw NoKeeperImage({ why: `the engine has no image ${JSON.stringify(named)}` });
  return [found.Id];
}

async function keeperSpec(cloud: Cloud, image: string): Promise<object> {
  const labels: Labels = {
    [LABEL.kind]: "keeper",
    [LABEL.cid]: keeperName(cloud),
    [LABEL.disks]: cloud.config.volume,
    [LABEL.version]: VERSION,
  };
  return {
    Image: image,
    Entrypoint: ["sh", "-c", BOOT],
    Cmd: [],
    User: "0:0",
    WorkingDir: "/",
    Labels: labels,
    HostConfig: {
      Init: true,
      NetworkMode: "none",
      RestartPolicy: { Name: "always" },
      CapAdd: ["SYS_ADMIN"],
      DeviceCgroupRules: ["b 7:* rwm", "c 10:237 rwm"],
      SecurityOpt: await securityOf(cloud),
      Mounts: [
        { Type: "volume", Source: cloud.config.volume, Target: "/slipway" },
        // Nodes of new loop devices appear in the host's.
        { Type: "bind", Source: "/dev", Target: "/dev" },
      ],
      LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "2" } },
    },
  };
}

const volume = open({ Name: v.string() });

const volumeExists = async ({ engine, config }: Cloud): Promise<boolean> =>
  (await engine.find(volume, {
    doing: `looking for the volume '${config.volume}'`,
    method: "GET",
    path: `/volumes/${config.volume}`,
  })) !== undefined;

/** One that is there is used as it is: it may be on a disk of its own. */
async function createVolume({ engine, config }: Cloud): Promise<void> {
  await engine.run({
    doing: `making the volume '${config.volume}'`,
    method: "POST",
    path: "/volumes/create",
    body: { Name: config.volume, Labels: { [LABEL.kind]: "disks", [LABEL.cid]: config.volume } },
  });
}

/** Refused by the engine while a container has it. */
async function removeVolume({ engine, config }: Cloud): Promise<void> {
  const reply = await engine.attempt({
    doing: `removing the volume '${config.volume}'`,
    method: "DELETE",
    path: `/volumes/${config.volume}`,
  });
  if (!refused(reply)) reply.resume();
}

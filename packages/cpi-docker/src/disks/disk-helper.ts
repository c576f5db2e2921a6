import type { DockerCloudContext } from "../cloud-context.ts";
import { must, refused } from "../engine/engine.ts";
import type { ExecResult } from "../engine/exec.ts";
import { textOf } from "../engine/http.ts";
import { endShells, hasShell, runIn } from "../engine/session.ts";
import { EngineRefused, NoDiskHelperImage, NoLoopDevices } from "../errors.ts";
import { LABEL, type Labels } from "../labels.ts";
import { securityOf } from "../security.ts";
import { findImage, stemcellImages, tagImage, untagImage } from "../stemcells/images.ts";
import { type Container, findContainer, removeContainer, startContainer } from "../vms/containers.ts";
import { ENDED } from "./scripts/common.ts";
import { BOOT, PROBE } from "./scripts/disk-helper.ts";
import { createVolume, removeVolume, volumeExists } from "./volume.ts";

/** Version of the disk helper. It is raised when an older one must be replaced to work with this code. */
const VERSION = "3";

/**
 * A container that has the volume of the disks and may make loop devices, and does nothing until the CPI runs a
 * script in it. All work on disks is done in there, so that this CPI needs no rights on the engine's host but those
 * of the engine's API.
 */
export class DiskHelper {
  readonly #cloud: DockerCloudContext;
  readonly name: string;
  /** Major numbers of the devices that an older disk helper could open beside loop devices. */
  #majors: readonly string[] = [];

  private constructor(cloud: DockerCloudContext) {
    this.#cloud = cloud;
    this.name = diskHelperName(cloud);
  }

  /** Starts it, or makes it from the first image that will do. */
  static async open(cloud: DockerCloudContext): Promise<DiskHelper> {
    const diskHelper = new DiskHelper(cloud);
    if (!(await diskHelper.#isThere())) await diskHelper.#makeOfAny();
    return diskHelper;
  }

  /** Undefined where there was never a disk. */
  static async openIfUsed(cloud: DockerCloudContext): Promise<DiskHelper | undefined> {
    const diskHelper = new DiskHelper(cloud);
    if (hasShell(cloud.engine, diskHelper.name) || (await diskHelper.#isThere())) return diskHelper;
    if (!(await volumeExists(cloud))) return undefined;
    await diskHelper.#makeOfAny();
    return diskHelper;
  }

  /**
   * Runs one of the scripts. Words of the caller come as arguments, never as part of the script. A script that
   * reports that it may not open a device has changed nothing: the disk helper is replaced so that it may, and the
   * script is run again.
   */
  async run(script: string, args: readonly string[], doing: string): Promise<ExecResult> {
    const allowed: string[] = [];
    for (;;) {
      const ran = await runIn(this.#cloud.engine, this.name, { script, args }, doing);
      const major = ran.code === ENDED.notAllowed ? /^(\d+):/.exec(ran.stdout.trim())?.[1] : undefined;
      // Another call may replace it in the same moment, and not know of this kind.
      if (major === undefined || allowed.filter((one) => one === major).length === MOST_TRIES) return ran;
      allowed.push(major);
      await this.#allow(major);
    }
  }

  async #allow(major: string): Promise<void> {
    const found = await findContainer(this.#cloud, this.name);
    const before = majorsOf(found);
    if (before.includes(major)) return;
    // Not by its name: another call may have replaced it already.
    if (found !== undefined) await this.#remove(found);
    await this.#makeOfAny([...before, major]);
  }

  /** Removes it when the scripts of other calls have ended, or when they take too long. */
  async #remove({ Id }: Container): Promise<void> {
    const { clock } = this.#cloud;
    const since = clock.monotonic();
    endShells(this.#cloud.engine, this.name);
    for (;;) {
      const now = await findContainer(this.#cloud, Id);
      const busy = now?.State.Running && (now.ExecIDs ?? []).length > 0;
      if (!busy || clock.monotonic() - since > SCRIPTS_END_MS) break;
      await clock.sleep(200);
    }
    await removeContainer(this.#cloud, Id);
  }

  /** Reports whether it is there, and starts it if necessary. One of an older version is removed. */
  async #isThere(): Promise<boolean> {
    const found = await findContainer(this.#cloud, this.name);
    if (found === undefined) return false;
    if (Number(found.Config.Labels?.[LABEL.version] ?? 0) < Number(VERSION)) {
      this.#majors = majorsOf(found);
      await this.#remove(found);
      return false;
    }
    if (!found.State.Running) await startContainer(this.#cloud, this.name, "starting the disk helper");
    return true;
  }

  async #makeOfAny(majors: readonly string[] = this.#majors): Promise<void> {
    const cloud = this.#cloud;
    const images = await candidates(cloud);
    if (images.length === 0)
      throw NoDiskHelperImage({ why: "no stemcell was uploaded, and docker.keeper_image is not set" });
    const wasThere = await volumeExists(cloud);
    await createVolume(cloud);
    const failures: Failure[] = [];
    let made = false;
    try {
      for (const image of images) {
        const failure = await this.#make(image, majors);
        made = failure === undefined;
        if (failure === undefined) return;
        failures.push(failure);
      }
    } finally {
      // A volume means that there may be disks.
      if (!made && !wasThere) await removeVolume(cloud);
    }
    const said = [...new Set(failures.map((failure) => failure.said))].join("; ");
    throw failures.every((failure) => failure.ofImage)
      ? NoDiskHelperImage({ why: said })
      : NoLoopDevices({ said });
  }

  async #make(image: string, majors: readonly string[]): Promise<Failure | undefined> {
    // Its own name for the image: the stemcell can be deleted, the disk helper stays.
    const tag = { repo: "slipway-keeper", tag: image.replace(/^sha256:/, "").slice(0, 12) };
    await tagImage(this.#cloud, image, tag);
    let made = false;
    try {
      const failure =
        (await this.#makeWith([...CAPABILITIES, GROW_ONLINE], image, majors)) &&
        // A host that lacks this one itself cannot give it.
        (await this.#makeWith(CAPABILITIES, image, majors));
      made = failure === undefined;
      return failure;
    } finally {
      if (!made) await untagImage(this.#cloud, tag);
    }
  }

  async #makeWith(
    capabilities: readonly string[],
    image: string,
    majors: readonly string[],
  ): Promise<Failure | undefined> {
    const cloud = this.#cloud;
    const call = {
      doing: "making the disk helper",
      method: "POST",
      path: "/containers/create",
      query: { name: this.name },
      body: await diskHelperSpec(cloud, { image, capabilities, majors }),
    } as const;
    const since = cloud.clock.monotonic();
    let reply = await cloud.engine.attempt(call);
    while (refused(reply) && reply.status === 409 && cloud.clock.monotonic() - since < OTHER_MAKES_MS) {
      // Another call was faster. It may still be trying what this host lets it have.
      if (await this.#isStarted(call.doing)) return undefined;
      await cloud.clock.sleep(200);
      reply = await cloud.engine.attempt(call);
    }
    // Newer engines refuse a capability that they do not have themselves already here, older ones at the start.
    if (refused(reply) && reply.status === 400 && /capabilit/i.test(reply.said))
      return { said: reply.said, ofImage: false };
    await textOf(must(reply, call));
    const failure = await this.#probe(call.doing);
    if (failure !== undefined) await removeContainer(cloud, this.name);
    return failure;
  }

  async #isStarted(doing: string): Promise<boolean> {
    try {
      await startContainer(this.#cloud, this.name, doing);
      return true;
    } catch (error) {
      if (!EngineRefused.is(error)) throw error;
      return false;
    }
  }

  async #probe(doing: string): Promise<Failure | undefined> {
    try {
      await startContainer(this.#cloud, this.name, doing);
      const { code, stderr } = await this.run(PROBE, [], doing);
      if (code === 0) return undefined;
      // The container was caught between two starts: nothing could be run in it.
      if (NO_PROGRAM.includes(code)) return NO_SHELL;
      const said = stderr.trim().slice(-300) || `the probe ended with ${code}`;
      return { said, ofImage: code === ENDED.notFound };
    } catch (error) {
      if (!EngineRefused.is(error)) throw error;
      // What a first process ends with when there is no such program.
      const noShell = /executable file/.test(error.message) || (await this.#exitCode(error.message)) === 127;
      return noShell ? NO_SHELL : { said: error.message, ofImage: false };
    }
  }

  /**
   * Returns the exit code of its first process. One that ends again and again may be seen while it runs, when it has
   * none.
   */
  async #exitCode(said: string): Promise<number | undefined> {
    const { clock } = this.#cloud;
    const since = clock.monotonic();
    for (;;) {
      const code = (await findContainer(this.#cloud, this.name))?.State.ExitCode;
      const mayFollow = code === 0 && said.includes("is restarting");
      if (!mayFollow || clock.monotonic() - since > RESTARTS_MS) return code;
      await clock.sleep(50);
    }
  }
}

/** Problem with the image, or with the engine. */
interface Failure {
  readonly said: string;
  readonly ofImage: boolean;
}

const OTHER_MAKES_MS = 30_000;
const SCRIPTS_END_MS = 60_000;
const RESTARTS_MS = 10_000;
const MOST_TRIES = 3;

const NO_SHELL: Failure = { said: "it has no sh", ofImage: true };
/** Exit codes of engines for a program that they could not run in a container. */
const NO_PROGRAM: readonly number[] = [126, 127, 128];

export const diskHelperName = ({ config }: DockerCloudContext): string => `slipway-keeper-${config.volume}`;

async function candidates(cloud: DockerCloudContext): Promise<readonly string[]> {
  const { keeper_image: named } = cloud.config;
  if (named === undefined) return await stemcellImages(cloud);
  const found = await findImage(cloud, named);
  if (found === undefined)
    throw NoDiskHelperImage({ why: `the engine has no image ${JSON.stringify(named)}` });
  return [found.Id];
}

/** ext4 grows while it is mounted only by the hand of who may exceed limits. */
const GROW_ONLINE = "SYS_RESOURCE";
const CAPABILITIES = ["SYS_ADMIN"];

const majorsOf = (found: Container | undefined): readonly string[] =>
  (found?.Config.Labels?.[LABEL.majors] ?? "").split(" ").filter((major) => major !== "");

interface Order {
  readonly image: string;
  readonly capabilities: readonly string[];
  /** Kinds of block devices beside loop devices, for disks of the pool. */
  readonly majors: readonly string[];
}

async function diskHelperSpec(
  cloud: DockerCloudContext,
  { image, capabilities, majors }: Order,
): Promise<object> {
  const labels: Labels = {
    [LABEL.kind]: "keeper",
    [LABEL.cid]: diskHelperName(cloud),
    [LABEL.disks]: cloud.config.volume,
    [LABEL.version]: VERSION,
    // Else it had those of its image, which may be another Director's.
    [LABEL.director]: "",
    [LABEL.request]: "",
    ...(majors.length > 0 && { [LABEL.majors]: majors.join(" ") }),
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
      CapAdd: capabilities,
      DeviceCgroupRules: ["b 7:* rwm", "c 10:237 rwm", ...majors.map((major) => `b ${major}:* rwm`)],
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
